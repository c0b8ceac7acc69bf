"""The official Python client of OpenAI, given nothing but an address and a key. Each step prints one line of JSON with what it saw."""

import json
import os

from openai import OpenAI

base_url = os.environ["PARLEY_BASE_URL"]
client = OpenAI(base_url=base_url, api_key=os.environ["PARLEY_KEY"])
messages = [{"role": "user", "content": "Hello?"}]
tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}]
good, cut, reset = "stub:stub-llm", "cut:stub-llm", "reset:stub-llm"


def chat(model, **options):
    return client.chat.completions.create(model=model, messages=messages, **options)


def chat_stream(model):
    pieces = [chunk.choices[0].delta.content for chunk in chat(model, stream=True) if chunk.choices]
    pieces = [piece for piece in pieces if piece]
    return {"text": "".join(pieces), "pieces": len(pieces)}


def usage():
    spent = chat(good).usage
    return {"prompt_tokens": spent.prompt_tokens, "completion_tokens": spent.completion_tokens}


def called():
    return [call.function.name for call in chat("tools:stub-llm", tools=tools).choices[0].message.tool_calls]


def transcribe(**options):
    with open(os.environ["PARLEY_RECORDING"], "rb") as file:
        return client.audio.transcriptions.create(model="auto", file=file, **options)


def transcribe_verbose():
    heard = transcribe(response_format="verbose_json")
    return {"text": heard.text, "duration": heard.duration, "segments": len(heard.segments)}


def speak(response_format):
    asked = {"model": "auto", "voice": "alloy", "input": "Thank you for calling.", "response_format": response_format}
    with client.audio.speech.with_streaming_response.create(**asked) as answer:
        audio = b"".join(answer.iter_bytes())
    return {"bytes": len(audio), "head": audio[:4].decode("latin1")}


def wrong_key():
    return OpenAI(base_url=base_url, api_key="sk_live_wrong").chat.completions.create(model=good, messages=messages)


steps = {
    "chat": lambda: {"text": chat(good).choices[0].message.content},
    "chatStream": lambda: chat_stream(good),
    "usage": usage,
    "tools": called,
    "transcribe": lambda: {"text": transcribe().text},
    "transcribeText": lambda: {"text": transcribe(response_format="text")},
    "transcribeVerbose": transcribe_verbose,
    "speakPcm": lambda: speak("pcm"),
    "speakWav": lambda: speak("wav"),
    "speakMp3": lambda: speak("mp3"),
    "models": lambda: [model.id for model in client.models.list()],
    "cutStream": lambda: chat_stream(cut),
    "resetStream": lambda: chat_stream(reset),
    "wrongKey": wrong_key,
}

for step, run in steps.items():
    try:
        print(json.dumps({"step": step, "value": run()}))
    except Exception as error:
        told = {"name": type(error).__name__, "message": str(error), "status": getattr(error, "status_code", None)}
        print(json.dumps({"step": step, "error": told}))
