"""The async client of a surface. It is the sync client's twin."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar, cast

import httpx
from typing_extensions import Self, Unpack

from .answers import ERROR_BYTES_MAX, Audio, Body, bytes_max_of, connection_errors, error_of, value_of
from .errors import ApiConnectionError, ApiError, ErrorTable
from .operations import Arguments, CallOptions, Operation, Server, is_repeatable
from .resume import Progress, resumed
from .retries import pause_before
from .settings import RETRIES, TIMEOUT, limits_of, reader_for
from .streams import AsyncAudioStream, AsyncEventStream, AudioStream, EventStream

P = ParamSpec("P")
T = TypeVar("T")

_CHUNK_BYTES = 64 * 1024
"""A file is sent in pieces with this length."""


class AsyncClient:
    """A client of one surface. It keeps its connections open, so use one client for many calls.

    `base_url` is the server's address. The default of `api_key` is the environment variable PARLEY_API_KEY. `timeout`
    is in seconds: it limits the time of a whole answer, or for a stream the time until it begins, and then of each
    read. `retries` is how many times a request is sent again after a failure that permits it. `header_prefix` is the
    server's setting, if its operator has changed it. `http_client` is your own httpx client, for proxies and
    certificates; you close it yourself. A cancelled task ends its request.
    """

    _errors: ClassVar[ErrorTable] = {}
    _prefix: ClassVar[str] = ""

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        header_prefix: str = "Service",
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self.timeout = timeout
        self.retries = retries
        self._server = Server(base_url, self._prefix, api_key or os.environ.get("PARLEY_API_KEY"), header_prefix)
        self._is_own = http_client is None
        self._http = http_client or httpx.AsyncClient()

    async def aclose(self) -> None:
        """Closes all connections."""
        if self._is_own:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _call(self, operation: Operation[T], options: CallOptions, **arguments: Unpack[Arguments]) -> T:
        response = await self._open(operation, options, arguments)
        return value_of(operation, response, await self._read(response, bytes_max_of(operation)))

    def _events(
        self, operation: Operation[T], options: CallOptions, **arguments: Unpack[Arguments]
    ) -> AsyncEventStream[T]:
        return AsyncEventStream(
            lambda last_id: self._open(operation, *resumed(options, arguments, last_id)),
            lambda response: reader_for(operation, response, self._errors),
            Progress(operation.identity),
        )

    def _chunks(
        self, operation: Operation[Audio], options: CallOptions, **arguments: Unpack[Arguments]
    ) -> AsyncAudioStream:
        return AsyncAudioStream(lambda: self._open(operation, options, arguments))

    async def _open(self, operation: Operation[T], options: CallOptions, arguments: Arguments) -> httpx.Response:
        """Sends the request, and again if the failure permits it. Returns an answer of 2xx whose body was not read."""
        retries = options.get("retries", self.retries) if is_repeatable(options, arguments.get("body")) else 0
        retry = 0
        while True:
            try:
                return await self._attempt(operation, options, arguments)
            except (ApiError, ApiConnectionError) as error:
                pause = pause_before(retry, error, operation.method) if retry < retries else None
                if pause is None:
                    raise
            await asyncio.sleep(pause)
            retry += 1

    async def _attempt(self, operation: Operation[T], options: CallOptions, arguments: Arguments) -> httpx.Response:
        limits = limits_of(options.get("timeout", self.timeout))
        fields = self._server.request(operation, options, arguments)
        if "content" in fields:
            fields["content"] = _async_content(fields["content"])
        request = self._http.build_request(**fields, **limits)
        with connection_errors():
            response = await self._http.send(request, stream=True, follow_redirects=False)
        if response.is_success:
            return response
        raise error_of(response, await self._read(response, ERROR_BYTES_MAX), self._errors)

    async def _read(self, response: httpx.Response, bytes_max: int | None) -> Body:
        body = Body(response, bytes_max)
        try:
            with connection_errors():
                async for chunk in response.aiter_bytes():
                    if not body.add(chunk):
                        break
        finally:
            await response.aclose()
        return body


def _async_content(content: Any) -> Any:
    """httpx takes only async iterables in an async request."""
    return content if isinstance(content, bytes) or hasattr(content, "__aiter__") else _async_chunks(content)


async def _async_chunks(content: Any) -> AsyncIterator[bytes]:
    """Reads in another thread, because a file or a generator may wait for its next chunk."""
    chunks = iter(partial(content.read, _CHUNK_BYTES), b"") if hasattr(content, "read") else iter(content)
    while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
        yield chunk


class awaited(Generic[P, T]):
    """A method of an async client, made from the sync client's method.

    A method only selects an operation and passes its arguments to `_call`, `_events` or `_chunks`. So the same method
    is async in a class whose `_call` is async.
    """

    def __init__(self, method: Callable[Concatenate[Any, P], T]) -> None:
        self._method: Any = method

    def __get__(self, client: AsyncClient | None, owner: type) -> Callable[P, Coroutine[Any, Any, T]]:
        return cast("Callable[P, Coroutine[Any, Any, T]]", self._method.__get__(client, owner))


class async_events(Generic[P, T]):
    """The same for a method whose answer is a stream of events."""

    def __init__(self, method: Callable[Concatenate[Any, P], EventStream[T]]) -> None:
        self._method: Any = method

    def __get__(self, client: AsyncClient | None, owner: type) -> Callable[P, AsyncEventStream[T]]:
        return cast("Callable[P, AsyncEventStream[T]]", self._method.__get__(client, owner))


class async_chunks(Generic[P]):
    """The same for a method whose answer is audio in chunks."""

    def __init__(self, method: Callable[Concatenate[Any, P], AudioStream]) -> None:
        self._method: Any = method

    def __get__(self, client: AsyncClient | None, owner: type) -> Callable[P, AsyncAudioStream]:
        return cast("Callable[P, AsyncAudioStream]", self._method.__get__(client, owner))
