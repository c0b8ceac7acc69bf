"""Opens a cut stream again, if the contract has Last-Event-ID, and drops the events that the server repeats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .errors import ApiConnectionError, ApiError, ParleyError, StreamTruncatedError
from .operations import Arguments, CallOptions

ATTEMPTS_MAX = 5
"""How often a stream is opened again without a new event in between."""

FIRST_PAUSE = 0.25
PAUSE_MAX = 4.0

_KEYS_MAX = 10_000
"""More than the events that a server repeats."""


class Progress:
    """How far a stream has come. `identity` is None if the stream cannot be opened again."""

    def __init__(self, identity: Mapping[str, str] | None) -> None:
        self.last_event_id = ""
        self._identity = identity
        self._handed_out: dict[str, str] = {}
        self._attempts = 0
        self._is_resumed = False

    def take(self, event: Any, event_id: str) -> bool:
        """Returns False if the caller has the event. An event without an identity is a state, so only the last counts."""
        self.last_event_id = event_id or self.last_event_id
        if self._identity is None:
            return True
        name, data = event["event"], event["data"]
        field = self._identity.get(name)
        text = json.dumps(data if field is None else data[field])
        key, value = (name, text) if field is None else (f"{name} {text}", "")
        is_known = self._handed_out.pop(key, None) == value
        self._handed_out[key] = value
        if len(self._handed_out) > _KEYS_MAX:
            del self._handed_out[next(iter(self._handed_out))]
        if self._is_resumed and is_known:
            return False
        self._attempts = 0
        return True

    def pause_after(self, error: ParleyError) -> float:
        """Returns the seconds to wait before the next attempt. Raises the error if there is no next attempt."""
        is_lost = isinstance(error, (StreamTruncatedError, ApiConnectionError))
        may_pass = error.retryable if isinstance(error, ApiError) else is_lost
        if self._identity is None or not self.last_event_id or self._attempts >= ATTEMPTS_MAX or not may_pass:
            raise error
        self._attempts, self._is_resumed = self._attempts + 1, True
        return min(FIRST_PAUSE * 2.0 ** (self._attempts - 1), PAUSE_MAX)


def resumed(options: CallOptions, arguments: Arguments, last_id: str) -> tuple[CallOptions, Arguments]:
    """Each attempt is one request. The server ignores the id if there is a cursor."""
    if not last_id:
        return options, arguments
    query = {name: value for name, value in arguments.get("query", {}).items() if name != "cursor"}
    headers = {**arguments.get("headers", {}), "Last-Event-ID": last_id}
    return {**options, "retries": 0}, {**arguments, "query": query, "headers": headers}
