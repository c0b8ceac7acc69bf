"""The two realtime sockets. The first is opened by the sync client, the second by the async client."""

import asyncio
from collections.abc import Mapping

from parley import AsyncRealtime, SocketClosedError

from settings import KEY, MODEL, RECORDING, TEXT, URL, Steps, realtime, words_of

FRAME_BYTES = 3200


def socket_transcribe() -> Mapping[str, object]:
    audio, finals = RECORDING.read_bytes(), []
    with realtime.transcribe_stream() as socket:
        socket.send({"type": "config", "language": "en", "contentType": "audio/wav"})
        for start in range(0, len(audio), FRAME_BYTES):
            socket.send_bytes(audio[start : start + FRAME_BYTES])
        socket.send({"type": "end"})
        for frame in socket:
            if not isinstance(frame, bytes) and frame["type"] == "transcript" and frame["isFinal"]:
                finals.append(frame["text"])
    return {"words": words_of(" ".join(finals)), "close": socket.close_code}


def socket_synthesize() -> Mapping[str, object]:
    return asyncio.run(synthesize())


async def synthesize() -> Mapping[str, object]:
    size, characters = 0, None
    async with AsyncRealtime(URL, KEY).synthesize_stream() as socket:
        await socket.send({"type": "config", "model": MODEL})
        await socket.send({"type": "text", "text": TEXT})
        await socket.send({"type": "end"})
        async for frame in socket:
            if isinstance(frame, bytes):
                size += len(frame)
            elif frame["type"] == "end":
                characters = frame["usage"]["characters"]
    return {"bytes": size, "characters": characters, "close": socket.close_code}


def socket_refused() -> Mapping[str, object]:
    try:
        with realtime.synthesize_stream() as socket:
            socket.send({"type": "config", "sampleRate": 1})
            for _ in socket:
                pass
    except SocketClosedError as error:
        return {"code": error.code, "close": error.close_code, "retryable": error.retryable}
    return {"code": None}


STEPS: Steps = {
    "socket_transcribe": socket_transcribe,
    "socket_synthesize": socket_synthesize,
    "socket_refused": socket_refused,
}
