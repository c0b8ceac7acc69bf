"""Sockets that close, break, refuse or stall, from the scripted server. Each runs on the sync and the async client."""

import asyncio
import os
from collections.abc import Mapping
from typing import cast

from parley import ApiError, ApiTimeoutError, AsyncRealtime, ProtocolError, Realtime, SocketClosedError

from settings import KEY, Steps

SCRIPTED_URL = os.environ["PARLEY_SCRIPTED_URL"]
TIMEOUT_SECONDS = 0.3
FRAMES, FRAME_BYTES = 32, 1024 * 1024


def socket_closes() -> Mapping[str, object]:
    return each(["normal", "away", "empty", "cut", "reason", "later", "frame", "mild"])


def socket_frames() -> Mapping[str, object]:
    return each(["text", "list", "null", "large", "largest"])


def socket_openings() -> Mapping[str, object]:
    moved = cast(list[object], each(["moved"])["moved"])
    return {**each(["refused", "late"]), "moved": moved[0]}


def socket_prefix() -> Mapping[str, object]:
    sockets = Realtime(url("offered"), KEY, header_prefix="Acme")
    try:
        with sockets.transcribe_stream() as socket:
            list(socket)
    except SocketClosedError as error:
        return {"offered": error.reason}
    return {"offered": None}


def socket_late_send() -> Mapping[str, object]:
    try:
        with Realtime(url("normal"), KEY).transcribe_stream() as socket:
            list(socket)
            socket.send({"type": "end"})
    except SocketClosedError as error:
        return {"close": error.close_code}
    return {"close": None}


def socket_slow() -> Mapping[str, object]:
    return {"bytes": asyncio.run(slow_bytes())}


async def slow_bytes() -> int | None:
    try:
        async with AsyncRealtime(url("slow"), KEY).transcribe_stream() as socket:
            for _ in range(FRAMES):
                await socket.send_bytes(bytes(FRAME_BYTES))
            await socket.send({"type": "end"})
            _ = [frame async for frame in socket]
    except SocketClosedError as error:
        return int(error.reason)
    return None


def each(faults: list[str]) -> Mapping[str, object]:
    results: dict[str, object] = {}
    for fault in faults:
        results[fault] = result_of(fault)
        assert results[fault] == asyncio.run(async_result_of(fault))
    return results


def result_of(fault: str) -> object:
    try:
        with Realtime(url(fault), KEY, timeout=timeout(fault)).transcribe_stream() as socket:
            list(socket)
    except (ApiError, ApiTimeoutError, SocketClosedError, ProtocolError) as error:
        return values_of(error)
    return None


async def async_result_of(fault: str) -> object:
    try:
        async with AsyncRealtime(url(fault), KEY, timeout=timeout(fault)).transcribe_stream() as socket:
            _ = [frame async for frame in socket]
    except (ApiError, ApiTimeoutError, SocketClosedError, ProtocolError) as error:
        return values_of(error)
    return None


def values_of(error: ApiError | ApiTimeoutError | SocketClosedError | ProtocolError) -> object:
    if isinstance(error, SocketClosedError):
        return [error.close_code, error.reason, error.code, error.retryable]
    if isinstance(error, ApiError):
        return [error.status, error.code]
    return "timeout" if isinstance(error, ApiTimeoutError) else "protocol"


def timeout(fault: str) -> float:
    return TIMEOUT_SECONDS if fault == "late" else 300


def url(fault: str) -> str:
    return f"{SCRIPTED_URL}/{fault}"


STEPS: Steps = {
    "socket_closes": socket_closes,
    "socket_frames": socket_frames,
    "socket_openings": socket_openings,
    "socket_prefix": socket_prefix,
    "socket_late_send": socket_late_send,
    "socket_slow": socket_slow,
}
