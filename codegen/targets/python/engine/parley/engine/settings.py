"""The settings that the sync and the async client share."""

from __future__ import annotations

import time
from typing import Any, Literal, TypeVar

import httpx

from .errors import ApiError, ErrorTable
from .events import EventReader
from .operations import Operation

E = TypeVar("E")

TIMEOUT = 300.0
"""The default limit for an answer in seconds. In a stream the limit is for its beginning, and then for each read."""

RETRIES = 2
"""How many times a request is sent again by default."""

_CONNECT_TIMEOUT_MAX = 10.0


def limits_of(seconds: float) -> dict[str, Any]:
    """Returns the time-outs of a request for httpx, and the deadline of the whole answer."""
    timeout = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_TIMEOUT_MAX))
    return {"timeout": timeout, "extensions": {"deadline": time.monotonic() + seconds}}


def reader_for(operation: Operation[E], response: httpx.Response, table: ErrorTable) -> EventReader[E]:
    kind: Literal["events", "data"] = "events" if operation.answer == "events" else "data"
    return EventReader(
        kind, operation.terminal, lambda body: ApiError(response.status_code, response.headers, body, table)
    )
