"""Answers that arrive piece by piece: events, and audio."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Generic, TypeVar

import httpx
from typing_extensions import Self

from .answers import stream_errors
from .errors import StreamTruncatedError
from .events import CUT, EventReader

E = TypeVar("E")


class _Opened:
    """A response that is opened once."""

    def __init__(self, open_response: Callable[[], httpx.Response]) -> None:
        self._open = open_response
        self._response: httpx.Response | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the answer."""
        return self._opened().headers

    def close(self) -> None:
        """Ends the stream. The server then stops its work."""
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
        return self._response

    def _chunks(self) -> Iterator[bytes]:
        try:
            with stream_errors():
                yield from self._opened().iter_bytes()
        finally:
            self.close()


class AudioStream(_Opened):
    """Audio that is still being made: `with client.create_speech_chunks(…) as chunks: for chunk in chunks: …`."""

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks()


class EventStream(_Opened, Generic[E]):
    """The events of an answer: `with client.create_response_stream(…) as events: for event in events: …`.

    The last event is one that ends the stream. If the connection is cut before, StreamTruncatedError is raised.
    """

    def __init__(self, open_response: Callable[[], httpx.Response], reader: Callable[[httpx.Response], EventReader[E]]):
        super().__init__(open_response)
        self._reader = reader
        self.last_event_id = ""
        """The id of the last event that had one. With it, some streams can be opened again where they ended."""

    def __iter__(self) -> Iterator[E]:
        reader = self._reader(self._opened())
        for chunk in self._chunks():
            for event in reader.feed(chunk):
                self.last_event_id = reader.last_event_id
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

    async def aclose(self) -> None:
        """Ends the stream. The server then stops its work."""
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
        return self._response

    async def _chunks(self) -> AsyncGenerator[bytes, None]:
        response = await self._opened()
        try:
            with stream_errors():
                async for chunk in response.aiter_bytes():
                    yield chunk
        finally:
            await self.aclose()


class AsyncAudioStream(_AsyncOpened):
    """Audio that is still being made: `async with client.create_speech_chunks(…) as chunks: async for chunk in …`."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks()


class AsyncEventStream(_AsyncOpened, Generic[E]):
    """The events of an answer: `async with client.create_response_stream(…) as events: async for event in events: …`.

    The last event is one that ends the stream. If the connection is cut before, StreamTruncatedError is raised.
    """

    def __init__(
        self,
        open_response: Callable[[], Awaitable[httpx.Response]],
        reader: Callable[[httpx.Response], EventReader[E]],
    ) -> None:
        super().__init__(open_response)
        self._reader = reader
        self.last_event_id = ""
        """The id of the last event that had one. With it, some streams can be opened again where they ended."""

    async def __aiter__(self) -> AsyncIterator[E]:
        reader = self._reader(await self._opened())
        async with aclosing(self._chunks()) as chunks:
            async for chunk in chunks:
                for event in reader.feed(chunk):
                    self.last_event_id = reader.last_event_id
                    yield event
                if reader.is_complete:
                    return
        raise StreamTruncatedError(CUT)
