"""Reads WHATWG's event streams. A stream is complete only after its last event."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast

from typing_extensions import TypedDict

from .errors import ApiError, ProtocolError

E = TypeVar("E")
Name = TypeVar("Name", bound=str)
Data = TypeVar("Data")

EVENT_BYTES_MAX = 16 * 1024 * 1024
"""The longest event in a stream, in bytes of its lines."""

CUT = "The stream ended before its last event; the connection was cut."
CLOSED = "The stream was closed before its last event."

_LINE_END = re.compile(rb"\r\n|\n|\r")


class Event(TypedDict, Generic[Name, Data]):
    """One event of a stream. The event's name decides the type of `data`."""

    event: Name
    data: Data


class _Frame(NamedTuple):
    event: str
    data: str


class _Frames:
    """Splits bytes into frames. Lines end in LF, CR or CRLF, a blank line ends a frame, and a colon starts a comment."""

    def __init__(self) -> None:
        self.last_id = ""
        self._line = bytearray()
        self._is_after_cr = False
        self._id = ""
        self._event = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[_Frame]:
        """Looks at each byte once, because an event of many chunks would take quadratic time otherwise."""
        text = chunk.removeprefix(b"\n") if self._is_after_cr else chunk
        self._is_after_cr = chunk.endswith(b"\r")
        first, *others = _LINE_END.split(text)
        self._add(first)
        for piece in others:
            line, self._line = self._line, bytearray()
            yield from self._take(line.decode("utf-8", "replace"))
            self._add(piece)

    def _add(self, piece: bytes) -> None:
        self._line += piece
        self._size += len(piece)
        if self._size > EVENT_BYTES_MAX:
            raise ProtocolError(f"An event is longer than {EVENT_BYTES_MAX} bytes.")

    def _take(self, line: str) -> Iterator[_Frame]:
        if line != "":
            return self._field(line)
        # The id counts only at the end of its event.
        self.last_id = self._id
        if self._data:
            yield _Frame(self._event, "\n".join(self._data))
        self._event, self._data, self._size = "", [], 0

    def _field(self, line: str) -> None:
        name, _, value = line.removeprefix("\ufeff").partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value


class EventReader(Generic[E]):
    """Turns the bytes of one stream into events, and knows when the stream is complete.

    A stream of `events` gives {event, data} and ends with an event of a known name. A stream of `data` gives each
    frame's data, and ends with `[DONE]` or with data of a known type.
    """

    def __init__(
        self, kind: Literal["events", "data"], terminal: tuple[str, ...], to_error: Callable[[object], ApiError]
    ) -> None:
        self.is_complete = False
        self._kind = kind
        self._terminal = terminal
        self._to_error = to_error
        self._frames = _Frames()

    @property
    def last_event_id(self) -> str:
        return self._frames.last_id

    def feed(self, chunk: bytes) -> Iterator[E]:
        for event, text in self._frames.feed(chunk):
            if self._kind == "data" and text == "[DONE]":
                self.is_complete = True
            else:
                yield self._events(event, text) if self._kind == "events" else self._data(text)
            if self.is_complete:
                return

    def _events(self, event: str, text: str) -> E:
        self.is_complete = event in self._terminal
        return cast(E, {"event": event, "data": _parse(text)})

    def _data(self, text: str) -> E:
        value = _parse(text)
        if isinstance(value, dict):
            if value.get("error") is not None:
                raise self._to_error(value)
            self.is_complete = value.get("type") in self._terminal
        return cast(E, value)


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ProtocolError("An event is not JSON.") from error
