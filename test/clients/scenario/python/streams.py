"""Streams that are cut, repeated, unreadable or too long, from the scripted server."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
from parley import AsyncPlatform, ParleyError, Platform, ProtocolError, Router, StreamTruncatedError
from parley.schemas.platform import StreamSessionEvent, StreamWebhookEventsEvent

from settings import KEY, REQUEST, Steps

SCRIPTED_URL = os.environ["PARLEY_SCRIPTED_URL"]
TIMEOUT_SECONDS = 1


def resumed_webhooks() -> Mapping[str, object]:
    with platform("twins").stream_webhook_events(cursor="0:0") as events:
        return {"events": [name_of(event) for event in events]}


def resumed_session() -> Mapping[str, object]:
    return {"events": asyncio.run(session_events())}


async def session_events() -> list[str]:
    async with AsyncPlatform(f"{SCRIPTED_URL}/states", KEY) as client, client.stream_session("s") as events:
        return [state_of(event) async for event in events]


def lost_stream() -> Mapping[str, object]:
    names: list[str] = []
    with platform("lost").stream_webhook_events(cursor="0:0") as events:
        error = error_in(names, (name_of(event) for event in events))
    return {"events": names, "error": error}


def late_read() -> Mapping[str, object]:
    with platform("stalled").stream_webhook_events(cursor="0:0", timeout=TIMEOUT_SECONDS) as events:
        return {"events": [name_of(event) for event in events]}


def closed_streams() -> Mapping[str, object]:
    results: dict[str, object] = {}
    for fault in ("opening", "pausing"):
        results[fault] = read_until_closed(fault)
        assert results[fault] == asyncio.run(async_read_until_closed(f"{fault}_async"))
    return results


def read_until_closed(fault: str) -> list[str]:
    names: list[str] = []
    with platform(fault).stream_webhook_events(cursor="0:0") as events, ThreadPoolExecutor() as threads:
        reading = threads.submit(read_names, names, events)
        ask("reached", fault)
        events.close()
        ask("released", fault)
        reading.result()
    return names


async def async_read_until_closed(fault: str) -> list[str]:
    names: list[str] = []

    async def read() -> None:
        with suppress(ParleyError):
            async for event in events:
                names.append(name_of(event))

    async with AsyncPlatform(f"{SCRIPTED_URL}/{fault}", KEY) as client:
        events = client.stream_webhook_events(cursor="0:0")
        reading = asyncio.create_task(read())
        await asyncio.to_thread(ask, "reached", fault)
        await events.aclose()
        await asyncio.to_thread(ask, "released", fault)
        await reading
    return names


def read_names(names: list[str], events: Iterable[StreamWebhookEventsEvent]) -> None:
    with suppress(ParleyError):
        names.extend(name_of(event) for event in events)


def ask(question: str, fault: str) -> None:
    httpx.get(f"{SCRIPTED_URL}/{question}/{fault}", timeout=60)


def unreadable_event() -> Mapping[str, object]:
    return {"error": response_error("unreadable")}


def long_event() -> Mapping[str, object]:
    return {"longest": response_error("longest"), "longer": response_error("long")}


def response_error(fault: str) -> str | None:
    with Router(f"{SCRIPTED_URL}/{fault}", KEY).create_response_stream(REQUEST) as events:
        return error_in([], (event["event"] for event in events))


def error_in(names: list[str], events: Iterable[str]) -> str | None:
    try:
        names.extend(events)
    except StreamTruncatedError:
        return "truncated"
    except ProtocolError:
        return "protocol"
    return None


def platform(fault: str) -> Platform:
    return Platform(f"{SCRIPTED_URL}/{fault}", KEY)


def name_of(event: StreamWebhookEventsEvent) -> str:
    return event["data"]["eventId"] if event["event"] == "webhook" else event["event"]


def state_of(event: StreamSessionEvent) -> str:
    if event["event"] == "status":
        return event["data"]["status"]
    if event["event"] == "transcript":
        return f"turn {event['data']['index']}"
    return f"event {event['data']['id']}" if event["event"] == "event" else event["event"]


STEPS: Steps = {
    "resumed_webhooks": resumed_webhooks,
    "resumed_session": resumed_session,
    "lost_stream": lost_stream,
    "late_read": late_read,
    "closed_streams": closed_streams,
    "unreadable_event": unreadable_event,
    "long_event": long_event,
}
