"""An operation of the contract, and the request that a call makes from it."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, Literal, TypeAlias, TypeVar, cast
from urllib.parse import quote

import httpx
from typing_extensions import TypedDict

from .version import __version__

T = TypeVar("T")

FileContent: TypeAlias = bytes | BinaryIO
"""A file in a form: bytes, or a file that is open for reading bytes."""

AudioContent: TypeAlias = bytes | Iterable[bytes] | AsyncIterable[bytes]
"""Audio for the body of a request: all of it, or chunks. Only the async client takes an async iterable."""

USER_AGENT = f"parley-python/{__version__}"


class CallOptions(TypedDict, total=False):
    """The options of every method."""

    headers: Mapping[str, str]
    """Further headers for this request."""
    timeout: float
    """Replaces the client's limit for this call, in seconds."""
    retries: int
    """Replaces the client's number of retries for this call."""


class IdempotentOptions(CallOptions, total=False):
    """The options of a method that the server runs at most once."""

    idempotency_key: str
    """The key of the request. By default each attempt has a new key. If you give a key, there is only one attempt."""


Parts: TypeAlias = tuple[tuple[str, Literal["bytes", "text", "json"]], ...]
"""The parts of a form, in their order on the wire: the name of each, and how its value is written."""


@dataclass(frozen=True)
class Operation(Generic[T]):
    """One form of an operation's answer. T is the type of the answer, or of each event."""

    method: str
    path: str
    accept: str = "application/json"
    needs_key: bool = True
    is_idempotent: bool = False
    body: Literal["json", "multipart", "bytes"] | None = None
    parts: Parts = ()
    sets: tuple[str, bool | str] | None = None
    """A field of the body that selects the form of the answer, and its value."""
    answer: Literal["json", "text", "bytes", "none", "events", "data"] = "json"
    terminal: tuple[str, ...] = ()
    """The names of the events that end a stream."""
    identity: Mapping[str, str] | None = None
    """If a cut stream can be opened again: the field that tells two events apart, by the events' name."""


class Arguments(TypedDict, total=False):
    """The arguments of a call, by their place in the request. None is left out."""

    path: Mapping[str, str]
    query: Mapping[str, object]
    headers: Mapping[str, object]
    body: Any


@dataclass(frozen=True)
class Server:
    """A server's address and header prefix, the path before its operations' paths, and the key for its requests."""

    base_url: str
    prefix: str
    api_key: str | None
    header_prefix: str

    def request(self, operation: Operation[Any], options: CallOptions, arguments: Arguments) -> dict[str, Any]:
        """Returns the arguments for httpx's `build_request`. Each request has a new Idempotency-Key."""
        return {
            "method": operation.method,
            "url": self.base_url.rstrip("/") + self.prefix + _path(operation.path, arguments.get("path", {})),
            "params": list(_pairs(arguments.get("query", {}))),
            "headers": self._headers(operation, options, arguments),
            **_content(operation, arguments.get("body")),
        }

    def _headers(self, operation: Operation[Any], options: CallOptions, arguments: Arguments) -> httpx.Headers:
        headers = httpx.Headers({"User-Agent": USER_AGENT, "Accept": operation.accept})
        if operation.needs_key and self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        if operation.is_idempotent:
            headers["Idempotency-Key"] = cast(IdempotentOptions, options).get("idempotency_key") or str(uuid.uuid4())
        for name, value in arguments.get("headers", {}).items():
            if value is not None:
                headers[re.sub("^(x-)?service-", rf"\g<1>{self.header_prefix}-", name, flags=re.IGNORECASE)] = _text(value)
        headers.update(options.get("headers", {}))
        return headers


def is_repeatable(options: CallOptions, body: object) -> bool:
    """True if a failed call may be sent again: the key is not the caller's, and all content is still in memory."""
    has_key = "idempotency_key" in options or "idempotency-key" in httpx.Headers(options.get("headers", {}))
    contents = body.values() if isinstance(body, Mapping) else [body]
    return not has_key and not any(_is_stream(content) for content in contents)


def _is_stream(content: object) -> bool:
    return hasattr(content, "read") or hasattr(content, "__next__") or hasattr(content, "__aiter__")


def _path(path: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        # httpx takes "." and ".." out of a path, so the request would reach another operation.
        if value in ("", ".", ".."):
            raise ValueError(f"The {name} in the path cannot be {value!r}.")
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return path


def _pairs(values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is not None:
                yield name, _text(item)


def _content(operation: Operation[Any], body: Any) -> dict[str, Any]:
    if body is None:
        return {}
    if operation.sets is not None:
        body = {**body, operation.sets[0]: operation.sets[1]}
    if operation.body == "multipart":
        return {"files": list(_files(operation, body))}
    return {"json": body} if operation.body == "json" else {"content": body}


def _files(operation: Operation[Any], body: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str | None, Any, str]]]:
    """All parts are files for httpx, because httpx keeps only the order of files."""
    for name, kind in operation.parts:
        value = body.get(name)
        for item in value if isinstance(value, (list, tuple)) and kind == "text" else [value]:
            if item is not None:
                yield name, _part(name, kind, item)


def _part(name: str, kind: str, item: Any) -> tuple[str | None, Any, str]:
    if kind == "bytes":
        return name, item, "application/octet-stream"
    return (None, json.dumps(item), "application/json") if kind == "json" else (None, _text(item), "text/plain")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, Mapping) else str(value)
