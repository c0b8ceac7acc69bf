"""Answers that arrive piece by piece: events, and audio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Generic, TypeAlias, TypeVar

import httpx
from typing_extensions import Self

from .answers import stream_errors
from .errors import ParleyError, StreamTruncatedError
from .events import CLOSED, CUT, EventReader
from .resume import Progress

E = TypeVar("E")
Reader: TypeAlias = Callable[[httpx.Response], EventReader[E]]


class _Opened:
    """A response that is opened once."""

    def __init__(self, open_response: Callable[[], httpx.Response]) -> None:
        self._open = open_response
        self._response: httpx.Response | None = None
        self._closed = threading.Event()

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the answer."""
        return self._opened().headers

    def close(self) -> None:
        """Ends the stream. The server then stops its work."""
        self._closed.set()
        if self._response is not None:
            self._response.close()

    def __enter__(self) -> Self:
        self._opened()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> httpx.Response:
        if self._response is None:
            self._response = self._open()
            # Another thread may have closed the stream while the answer began.
            if self._closed.is_set():
                self._response.close()
                raise StreamTruncatedError(CLOSED)
        return self._response

    def _chunks(self) -> Iterator[bytes]:
        response = self._opened()
        try:
            with stream_errors():
                yield from response.iter_bytes()
        finally:
            response.close()


class AudioStream(_Opened):
    """Audio that is still being made: `with client.create_speech_chunks(…) as chunks: for chunk in chunks: …`."""

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks()


class EventStream(_Opened, Generic[E]):
    """The events of an answer: `with client.create_response_stream(…) as events: for event in events: …`.

    The last event is one that ends the stream. If the connection is cut before, StreamTruncatedError is raised.
    """

    def __init__(self, open_response: Callable[[str], httpx.Response], reader: Reader[E], progress: Progress) -> None:
        super().__init__(lambda: open_response(progress.last_event_id))
        self._reader = reader
        self._progress = progress

    @property
    def last_event_id(self) -> str:
        """The id of the last event that had one."""
        return self._progress.last_event_id

    def __iter__(self) -> Iterator[E]:
        while True:
            try:
                return (yield from self._events())
            except ParleyError as error:
                if self._closed.is_set() or self._closed.wait(self._progress.pause_after(error)):
                    raise
            self._response = None

    def _events(self) -> Iterator[E]:
        reader = self._reader(self._opened())
        for chunk in self._chunks():
            for event in reader.feed(chunk):
                if self._progress.take(event, reader.last_event_id):
                    yield event
            if reader.is_complete:
                self.close()
                return
        raise StreamTruncatedError(CUT)


class _AsyncOpened:
    """A response that is opened once."""

    def __init__(self, open_response: Callable[[], Awaitable[httpx.Response]]) -> None:
        self._open = open_response
        self._response: httpx.Response | None = None
        self._closed = asyncio.Event()

    async def aclose(self) -> None:
        """Ends the stream. The server then stops its work."""
        self._closed.set()
        if self._response is not None:
            await self._response.aclose()

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the answer. They are empty until the stream is open."""
        return self._response.headers if self._response is not None else {}

    async def __aenter__(self) -> Self:
        await self._opened()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _opened(self) -> httpx.Response:
        if self._response is None:
            self._response = await self._open()
            # Another task may have closed the stream while the answer began.
            if self._closed.is_set():
                await self._response.aclose()
                raise StreamTruncatedError(CLOSED)
        return self._response

    async def _chunks(self) -> AsyncGenerator[bytes, None]:
        response = await self._opened()
        try:
            with stream_errors():
                async for chunk in response.aiter_bytes():
                    yield chunk
        finally:
            await response.aclose()


class AsyncAudioStream(_AsyncOpened):
    """Audio that is still being made: `async with client.create_speech_chunks(…) as chunks: async for chunk in …`."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks()


class AsyncEventStream(_AsyncOpened, Generic[E]):
    """The events of an answer: `async with client.create_response_stream(…) as events: async for event in events: …`.

    The last event is one that ends the stream. If the connection is cut before, StreamTruncatedError is raised.
    """

    def __init__(
        self, open_response: Callable[[str], Awaitable[httpx.Response]], reader: Reader[E], progress: Progress
    ) -> None:
        super().__init__(lambda: open_response(progress.last_event_id))
        self._reader = reader
        self._progress = progress

    @property
    def last_event_id(self) -> str:
        """The id of the last event that had one."""
        return self._progress.last_event_id

    async def __aiter__(self) -> AsyncIterator[E]:
        while True:
            try:
                async with aclosing(self._events()) as events:
                    async for event in events:
                        yield event
                return
            except ParleyError as error:
                if self._closed.is_set() or await self._is_closed_within(self._progress.pause_after(error)):
                    raise
            self._response = None

    async def _is_closed_within(self, pause: float) -> bool:
        try:
            return await asyncio.wait_for(self._closed.wait(), pause)
        except asyncio.TimeoutError:
            return False

    async def _events(self) -> AsyncGenerator[E, None]:
        reader = self._reader(await self._opened())
        async with aclosing(self._chunks()) as chunks:
            async for chunk in chunks:
                for event in reader.feed(chunk):
                    if self._progress.take(event, reader.last_event_id):
                        yield event
                if reader.is_complete:
                    return
        raise StreamTruncatedError(CUT)
