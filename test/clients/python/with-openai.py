"""Runs OpenAI's official Python client. Only its address and its key are configured."""

import base64
import sys
import wave
from array import array

from openai import OpenAI

from steps import api_key, audio, base_url, collected, recording, report, sentence, without_credential

client = OpenAI(base_url=base_url, api_key=api_key)
messages = [{"role": "user", "content": "Hello?"}]
tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}]
good, cut, reset = "stub:stub-llm", "cut:stub-llm", "reset:stub-llm"


def chat(model, **options):
    return client.chat.completions.create(model=model, messages=messages, **options)


def chat_stream(model):
    return collected(chunk.choices[0].delta.content for chunk in chat(model, stream=True) if chunk.choices)


def usage():
    spent = chat(good).usage
    return {"prompt_tokens": spent.prompt_tokens, "completion_tokens": spent.completion_tokens}


def called():
    return [call.function.name for call in chat("tools:stub-llm", tools=tools).choices[0].message.tool_calls]


def transcribe(**options):
    with open(recording, "rb") as file:
        return client.audio.transcriptions.create(model="auto", file=file, **options)


def transcribe_verbose():
    heard = transcribe(response_format="verbose_json")
    return {"text": heard.text, "duration": heard.duration, "segments": len(heard.segments)}


def speak(response_format):
    asked = {"model": "auto", "voice": "alloy", "input": sentence, "response_format": response_format}
    with client.audio.speech.with_streaming_response.create(**asked) as answer:
        return audio(b"".join(answer.iter_bytes()))


def at_24_khz():
    """Converts the recording from 8 to 24 kHz, with two linear samples between each two."""
    with wave.open(recording) as file:
        samples = array("h", file.readframes(file.getnframes()))
    if sys.byteorder == "big":
        samples.byteswap()
    pairs = zip(samples, samples[1:])
    return array("h", [(a * (3 - step) + b * step) // 3 for a, b in pairs for step in range(3)]).tobytes()


def realtime():
    """Streams the recording in pieces of 100 ms and reads until the transcript is complete."""
    pcm, deltas = at_24_khz(), []
    listened = {"format": {"type": "audio/pcm", "rate": 24_000}, "transcription": {"model": "auto"}, "turn_detection": None}
    with client.realtime.connect(model="auto", extra_query={"intent": "transcription"}) as connection:
        connection.session.update(session={"type": "transcription", "audio": {"input": listened}})
        for at in range(0, len(pcm), 4800):
            connection.input_audio_buffer.append(audio=base64.b64encode(pcm[at : at + 4800]).decode())
        connection.input_audio_buffer.commit()
        for event in connection:
            if event.type == "error":
                raise RuntimeError(event.error.message)
            if event.type == "conversation.item.input_audio_transcription.delta":
                deltas.append(event.delta)
            if event.type == "conversation.item.input_audio_transcription.completed":
                return {"text": event.transcript, "deltas": "".join(deltas)}


def wrong_key():
    return OpenAI(base_url=base_url, api_key="sk_live_wrong").chat.completions.create(model=good, messages=messages)


report(
    {
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
        "transcribeSrt": lambda: {"text": transcribe(response_format="srt")},
        "transcribeVtt": lambda: {"text": transcribe(response_format="vtt")},
        "realtime": realtime,
        "retrieve": lambda: client.models.retrieve(good).id,
        "withoutCredential": lambda: without_credential(lambda: chat("gpt-4o-mini")),
        "models": lambda: [model.id for model in client.models.list()],
        "cutStream": lambda: chat_stream(cut),
        "resetStream": lambda: chat_stream(reset),
        "wrongKey": wrong_key,
    }
)
