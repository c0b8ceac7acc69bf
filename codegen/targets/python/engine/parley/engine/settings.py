"""The settings that the sync and the async client share."""

from __future__ import annotations

from typing import Literal, TypeVar

import httpx

from .errors import ApiError, ErrorTable
from .events import EventReader
from .operations import Operation

E = TypeVar("E")

TIMEOUT = 600.0
"""The default limit for the wait for an answer, and for each further part of the answer, in seconds."""

RETRIES = 2
"""How many times a request is sent again by default."""

_CONNECT_TIMEOUT_MAX = 10.0


def httpx_timeout(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=min(seconds, _CONNECT_TIMEOUT_MAX))


def reader_for(operation: Operation[E], response: httpx.Response, table: ErrorTable) -> EventReader[E]:
    kind: Literal["events", "data"] = "events" if operation.answer == "events" else "data"
    return EventReader(
        kind, operation.terminal, lambda body: ApiError(response.status_code, response.headers, body, table)
    )
