"""Runs LiteLLM's SDK."""

import litellm

from steps import api_key, audio, base_url, collected, question, recording, report, sentence, without_credential

litellm.suppress_debug_info = True
server = {"api_base": base_url, "api_key": api_key}
messages = [{"role": "user", "content": question}]
tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}


def chat(model="openai/auto", **options):
    return litellm.completion(model=model, messages=messages, **server, **options)


def transcribe():
    with open(recording, "rb") as file:
        return {"text": litellm.transcription(model="openai/auto", file=file, **server).text}


def speak():
    asked = {"model": "openai/auto", "voice": "alloy", "input": sentence, "response_format": "wav"}
    return audio(litellm.speech(**asked, **server).read())


def respond():
    answer = litellm.responses(model="openai/auto", input=question, **server)
    return {"text": answer.output[0].content[0].text}


report(
    {
        "chat": lambda: {"text": chat().choices[0].message.content},
        "chatStream": lambda: collected(part.choices[0].delta.content for part in chat(stream=True)),
        "toolCall": lambda: [call.function.name for call in chat(tools=[tool]).choices[0].message.tool_calls],
        "respond": respond,
        "transcribe": transcribe,
        "speakWav": speak,
        "withoutCredential": lambda: without_credential(lambda: chat("openai/gpt-4o-mini")),
    }
)
