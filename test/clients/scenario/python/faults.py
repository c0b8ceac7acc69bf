"""Failures: a refused request that is repeated, cut streams, a cancelled request, and a late answer."""

import asyncio
from collections.abc import Mapping
from urllib.request import urlopen

from parley import ApiTimeoutError, AsyncRouter, Router, StreamTruncatedError

from models import text_of
from settings import FAULTS_URL, KEY, REQUEST, Steps

TIMEOUT_SECONDS = 0.3


def retry() -> Mapping[str, object]:
    answer = Router(f"{FAULTS_URL}/busy", KEY).create_response(REQUEST)
    return {"text": text_of(answer["output"][0])}


def cut_stream() -> Mapping[str, object]:
    try:
        with Router(f"{FAULTS_URL}/reset", KEY).create_response_stream(REQUEST) as events:
            list(events)
    except StreamTruncatedError:
        return {"error": "truncated"}
    return {"error": None}


def short_stream() -> Mapping[str, object]:
    return asyncio.run(short_stream_async())


async def short_stream_async() -> Mapping[str, object]:
    try:
        async with AsyncRouter(f"{FAULTS_URL}/short", KEY).create_response_stream(REQUEST) as events:
            _ = [event async for event in events]
    except StreamTruncatedError:
        return {"error": "truncated"}
    return {"error": None}


def cancel() -> Mapping[str, object]:
    return asyncio.run(cancelled())


async def cancelled() -> Mapping[str, object]:
    async with AsyncRouter(f"{FAULTS_URL}/silent", KEY) as router:
        task = asyncio.create_task(router.create_response(REQUEST))
        await asyncio.to_thread(urlopen, f"{FAULTS_URL}/sent/silent")
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return {"error": "cancelled"}
    return {"error": None}


def timeout() -> Mapping[str, object]:
    try:
        Router(f"{FAULTS_URL}/silent", KEY).create_response(REQUEST, timeout=TIMEOUT_SECONDS)
    except ApiTimeoutError:
        return {"error": "timeout"}
    return {"error": None}


STEPS: Steps = {
    "retry": retry,
    "cut_stream": cut_stream,
    "short_stream": short_stream,
    "cancel": cancel,
    "timeout": timeout,
}
