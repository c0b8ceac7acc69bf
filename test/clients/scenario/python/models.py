"""Models, recordings, speech, and LLM answers. Each stream is read by the sync client and by the async client."""

import asyncio
from collections.abc import Mapping

from parley import AsyncCompat, AsyncRouter
from parley.schemas.compat import ChatCompletionRequest
from parley.schemas.router import CreateResponseEvent, LLMRequest, OutputItem, SpeechRequest

from settings import KEY, MODEL, RECORDING, REQUEST, ROUTING, TEXT, URL, Steps, compat, router, words_of

SPEECH: SpeechRequest = {
    "input": TEXT,
    "routing": ROUTING,
    "audio": {"encoding": "pcm_s16le", "sample_rate_hz": 24000},
}
CHAT: ChatCompletionRequest = {"model": MODEL, "messages": [{"role": "user", "content": TEXT}]}


def models() -> Mapping[str, object]:
    rows = router.list_models()["models"]
    return {"kinds": sorted(row["kind"] for row in rows if row["provider"] == "loopback")}


def transcription() -> Mapping[str, object]:
    with RECORDING.open("rb") as audio:
        answer = router.create_transcription({"request": {"language": "en"}, "audio": audio})
    return {"words": words_of(answer["text"])}


def raw_transcription() -> Mapping[str, object]:
    with RECORDING.open("rb") as audio:
        return {"words": words_of(compat.transcribe(audio)["text"])}


def speech() -> Mapping[str, object]:
    return {"bytes": len(router.create_speech(SPEECH))}


def speech_chunks() -> Mapping[str, object]:
    with router.create_speech_chunks(SPEECH) as chunks:
        size = sum(len(chunk) for chunk in chunks)
    assert size == asyncio.run(speech_chunks_async())
    return {"bytes": size}


async def speech_chunks_async() -> int:
    async with AsyncRouter(URL, KEY) as client, client.create_speech_chunks(SPEECH) as chunks:
        return sum([len(chunk) async for chunk in chunks])


def llm() -> Mapping[str, object]:
    answer = router.create_response(REQUEST)
    return {"text": text_of(answer["output"][0]), "stop_reason": answer["stop_reason"]}


def text_of(item: OutputItem) -> str | None:
    return "".join(part["text"] for part in item["content"]) if item["type"] == "message" else None


def llm_stream() -> Mapping[str, object]:
    events = streamed(REQUEST)
    names = [event["event"] for event in events]
    deltas = [event["data"]["delta"] for event in events if event["event"] == "response.text.delta"]
    return {"text": "".join(deltas), "last": names[-1], "terminal_events": names.count(names[-1])}


def llm_tool() -> Mapping[str, object]:
    request: LLMRequest = {
        **REQUEST,
        "routing": {"mode": "explicit", "model": "tools/tools"},
        "tools": [{"name": "weather", "parameters": {"type": "object", "properties": {}}}],
    }
    name, arguments, last = None, "", ""
    for event in streamed(request):
        last = event["event"]
        if event["event"] == "response.item.added" and event["data"]["item"]["type"] == "function_call":
            name = event["data"]["item"]["name"]
        elif event["event"] == "response.function_call_arguments.delta":
            arguments += event["data"]["delta"]
    return {"name": name, "arguments": arguments, "last": last}


def streamed(request: LLMRequest) -> list[CreateResponseEvent]:
    with router.create_response_stream(request) as events:
        received = list(events)
    names = [event["event"] for event in received]
    assert names == [event["event"] for event in asyncio.run(streamed_async(request))]
    return received


async def streamed_async(request: LLMRequest) -> list[CreateResponseEvent]:
    async with AsyncRouter(URL, KEY) as client, client.create_response_stream(request) as events:
        return [event async for event in events]


def chat() -> Mapping[str, object]:
    return {"text": compat.create_chat_completion(CHAT)["choices"][0]["message"]["content"]}


def chat_stream() -> Mapping[str, object]:
    with compat.create_chat_completion_stream(CHAT) as chunks:
        text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk["choices"])
    assert text == asyncio.run(chat_async())
    return {"text": text}


async def chat_async() -> str | None:
    async with AsyncCompat(URL, KEY) as client:
        answer = await client.create_chat_completion(CHAT)
    return answer["choices"][0]["message"]["content"]


STEPS: Steps = {
    "models": models,
    "transcription": transcription,
    "raw_transcription": raw_transcription,
    "speech": speech,
    "speech_chunks": speech_chunks,
    "llm": llm,
    "llm_stream": llm_stream,
    "llm_tool": llm_tool,
    "chat": chat,
    "chat_stream": chat_stream,
}
