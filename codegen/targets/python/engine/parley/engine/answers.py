"""Reads answers: values, audio, errors, and the errors of the connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import httpx

from .errors import ApiConnectionError, ApiError, ApiTimeoutError, ErrorTable, StreamTruncatedError
from .events import CUT
from .operations import Operation

T = TypeVar("T")

ERROR_BYTES_MAX = 64 * 1024
"""The longest body of an error, in bytes. A longer body is not read to its end, so such an error has no code."""


class Audio(bytes):
    """Audio with the headers of its answer."""

    headers: Mapping[str, str]

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")


def value_of(operation: Operation[T], response: httpx.Response, table: ErrorTable) -> T:
    """Returns the value of an answer that was read to its end."""
    value: object = None
    if operation.answer == "json":
        value = _json(response, table)
    elif operation.answer == "text":
        value = response.text
    elif operation.answer == "bytes":
        value = Audio(response.content)
        value.headers = response.headers
    return cast(T, value)


def error_of(response: httpx.Response, body: bytes, table: ErrorTable) -> ApiError:
    """Returns the error for an answer other than 2xx."""
    try:
        value: object = httpx.Response(response.status_code, content=body).json()
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
    except httpx.TransportError as error:
        raise StreamTruncatedError(CUT) from error


def _json(response: httpx.Response, table: ErrorTable) -> Any:
    try:
        return response.json()
    except ValueError as error:
        message = "The answer is not JSON."
        raise ApiError(response.status_code, response.headers, None, table, message) from error
