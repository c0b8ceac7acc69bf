"""The errors of all clients. Each is a ParleyError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias


class ErrorRow(NamedTuple):
    """A row in the contract's table of errors."""

    type: str
    retryable: bool


ErrorTable: TypeAlias = Mapping[str, ErrorRow]


class ParleyError(Exception):
    """Any error that this package raises for the server or the connection."""


class ApiError(ParleyError):
    """The server answered with a status other than 2xx. Redirects are not followed, so a redirect is an error too.

    `code`, `type` and `request_id` are None if something between client and server made the answer.
    """

    def __init__(self, status: int, headers: Mapping[str, str], body: object, table: ErrorTable | None = None) -> None:
        fields = _fields(body)
        code = fields.get("code")
        row = (table or {}).get(str(code))
        self.status = status
        """The HTTP status. If the error came in a stream, the status is 200."""
        self.headers = headers
        self.body = body
        """The answer's JSON, or None if the answer is not JSON."""
        self.code: str | None = code
        """The error code, for programs. Later servers can have other codes."""
        self.type: str | None = fields.get("type", row.type if row else None)
        """The kind of the error, such as `rate_limit_error`."""
        self.retryable: bool = fields.get("retryable", row.retryable if row else False) is True
        """True if the same request may succeed later."""
        self.request_id: str | None = fields.get("request_id")
        """The request's id in the server's log."""
        self.hint: str | None = fields.get("hint")
        """How to correct the request."""
        super().__init__(_message(status, fields))


class ApiConnectionError(ParleyError):
    """There was no connection, or the connection was lost before the answer was complete."""

    def __init__(self, message: str, *, was_sent: bool) -> None:
        self.was_sent = was_sent
        """False if the request never reached the server. If True, the server may have processed the request."""
        super().__init__(message)


class ApiTimeoutError(ApiConnectionError):
    """The server did not answer in time. The server may have processed the request."""


class ProtocolError(ParleyError):
    """The answer is not as the contract says, such as a page of HTML from a proxy."""


class StreamTruncatedError(ParleyError):
    """A stream ended without its last event: the connection was cut, and the answer is incomplete."""


class SocketClosedError(ParleyError):
    """A socket closed with an error."""

    def __init__(self, close_code: int, reason: str, code: str | None, retryable: bool, request_id: str | None) -> None:
        self.close_code = close_code
        """The WebSocket close code. 1006 if the connection was lost without one."""
        self.reason = reason
        self.code = code
        """The error code, for programs. None if the server sent no error before the close."""
        self.retryable = retryable
        """True if a new socket may succeed."""
        self.request_id = request_id
        """The socket's id in the server's log."""
        super().__init__(f"The socket closed with {close_code} {code or ''} {reason}".rstrip())


def _fields(body: object) -> dict[str, Any]:
    """The fields of both envelopes, under the names of the nested envelope: {"error": {…}} or {"error": "message", …}."""
    if not isinstance(body, Mapping):
        return {}
    error = body.get("error")
    if isinstance(error, Mapping):
        return dict(error)
    known = {"message": error, "code": body.get("code"), "request_id": body.get("requestId")}
    return {name: value for name, value in known.items() if isinstance(value, str)}


def _message(status: int, fields: Mapping[str, Any]) -> str:
    message = fields.get("message") or "The server answered with an error."
    return " ".join(str(part) for part in (status, fields.get("code"), message, fields.get("hint")) if part)
