"""Reads answers: values, audio, errors, and the errors of the connection."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import httpx

from .errors import ApiConnectionError, ApiError, ApiTimeoutError, ErrorTable, ProtocolError, StreamTruncatedError
from .events import CUT
from .operations import Operation

T = TypeVar("T")

JSON_BYTES_MAX = 64 * 1024 * 1024
"""The longest answer that is not audio and not a stream, in bytes."""

READ_TIMEOUT_MIN = 0.001

ERROR_BYTES_MAX = 64 * 1024
"""The longest body of an error, in bytes. A longer body is not read to its end, so such an error has no code."""


class Audio(bytes):
    """Audio with the headers of its answer."""

    headers: Mapping[str, str]

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")


class Body:
    """Collects the body of an answer, within the limits of its size and of the answer's time. Audio has no such limits."""

    def __init__(self, response: httpx.Response, bytes_max: int | None) -> None:
        extensions = response.request.extensions
        self.content = bytearray()
        self._bytes_max, self._deadline = float("inf"), float("inf")
        if bytes_max is not None:
            self._bytes_max, self._deadline = bytes_max, extensions["deadline"]
            # httpx limits each read. From here on no read may take longer than the rest of the time.
            extensions["timeout"]["read"] = max(self._deadline - time.monotonic(), READ_TIMEOUT_MIN)

    def add(self, chunk: bytes) -> bool:
        """Returns False if the body is longer than its limit."""
        self.content += chunk
        if time.monotonic() > self._deadline:
            raise ApiTimeoutError("The whole answer did not come in time.", was_sent=True)
        return self.is_whole

    @property
    def is_whole(self) -> bool:
        """False if a rest of the body was not read, because the body is longer than its limit."""
        return len(self.content) <= self._bytes_max


def bytes_max_of(operation: Operation[Any]) -> int | None:
    return None if operation.answer == "bytes" else JSON_BYTES_MAX


def value_of(operation: Operation[T], response: httpx.Response, body: Body) -> T:
    """Returns the value of an answer that was read to its end."""
    if not body.is_whole:
        raise ProtocolError(f"The answer is longer than {JSON_BYTES_MAX} bytes.")
    value: object = None
    if operation.answer == "json":
        value = _json(body)
    elif operation.answer == "text":
        value = body.content.decode(errors="replace")
    elif operation.answer == "bytes":
        value = Audio(body.content)
        value.headers = response.headers
    return cast(T, value)


def error_of(response: httpx.Response, body: Body, table: ErrorTable) -> ApiError:
    """Returns the error for an answer other than 2xx."""
    try:
        value: object = json.loads(body.content) if body.is_whole else None
    except ValueError:
        value = None
    return ApiError(response.status_code, response.headers, value, table)


@contextmanager
def connection_errors() -> Iterator[None]:
    """Turns errors of the connection into this package's errors."""
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise ApiConnectionError(f"There is no connection to the server: {error}", was_sent=False) from error
    except httpx.TimeoutException as error:
        raise ApiTimeoutError("The server did not answer in time.", was_sent=True) from error
    except httpx.TransportError as error:
        raise ApiConnectionError(f"The connection was lost: {error}", was_sent=True) from error


@contextmanager
def stream_errors() -> Iterator[None]:
    """Turns errors of the connection into StreamTruncatedError, because the answer has begun."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise ApiTimeoutError("The next part of the answer did not come in time.", was_sent=True) from error
    except httpx.TransportError as error:
        raise StreamTruncatedError(CUT) from error


def _json(body: Body) -> Any:
    try:
        return json.loads(body.content)
    except ValueError as error:
        raise ProtocolError("The answer is not JSON.") from error
