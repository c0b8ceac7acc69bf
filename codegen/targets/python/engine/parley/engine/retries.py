"""Decides if and when a failed request is sent again.

The server must run no request twice. So a request is repeated only if it never reached the server, or if the server
answered that it may be repeated.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from .errors import ApiConnectionError, ApiError, ParleyError

RETRY_AFTER_MAX = 60.0
"""The longest pause in seconds that a server may ask for. If a server asks for more, the request fails at once."""

_FIRST_PAUSE = 0.5
_PAUSE_MAX = 8.0


_UNPROCESSED = (429, 502, 503)
"""The server has not processed a request with these answers."""

_UNCERTAIN = (500, 504)
"""The server may have processed a request with these answers, so the method must allow a second time."""

_REPEATABLE_METHODS = ("GET", "HEAD", "PUT", "DELETE")


def pause_before(retry: int, error: ParleyError, method: str) -> float | None:
    """Returns the seconds to wait before the retry with this number, from 0. Returns None if there must be no retry."""
    if isinstance(error, ApiError):
        # The server sends this header if a provider has the request already.
        may_have_run = error.status in _UNCERTAIN or error.headers.get("x-should-retry") == "false"
        is_known = error.status in _UNPROCESSED or error.status in _UNCERTAIN
        is_repeatable = error.retryable and is_known and (not may_have_run or method in _REPEATABLE_METHODS)
        return _pause_after(retry, error.headers) if is_repeatable else None
    is_unsent = isinstance(error, ApiConnectionError) and not error.was_sent
    return _usual_pause(retry) if is_unsent else None


def _pause_after(retry: int, headers: Mapping[str, str]) -> float | None:
    pause = _seconds(headers.get("retry-after", ""))
    if pause is None:
        return _usual_pause(retry)
    return max(0.0, pause) if pause <= RETRY_AFTER_MAX else None


def _seconds(text: str) -> float | None:
    """Reads Retry-After, which holds seconds or a date."""
    if text.isdecimal():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (date.replace(tzinfo=date.tzinfo or timezone.utc) - datetime.now(timezone.utc)).total_seconds()


def _usual_pause(retry: int) -> float:
    """Doubles with each retry. A random half keeps many clients from returning at the same moment."""
    return float(min(_FIRST_PAUSE * 2**retry, _PAUSE_MAX)) * (0.5 + random.random() / 2)
