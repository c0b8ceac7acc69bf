"""Typed sockets. Text frames are dicts with a `type`, and binary frames are bytes with audio."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, cast

from typing_extensions import Self, Unpack
from websockets.asyncio.client import ClientConnection as AsyncConnection
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from .answers import ERROR_BYTES_MAX
from .channels import OPEN_TIMEOUT_MAX, Channel, Conversation, Place, SocketServer, Target
from .errors import ApiConnectionError, ApiError, ApiTimeoutError, SocketClosedError

S = TypeVar("S")
R = TypeVar("R")

_CLOSE_TIMEOUT = 5.0


class _Connection(ClientConnection):
    def handshake(self, *args: Any, **options: Any) -> None:
        with _refusals():
            super().handshake(*args, **options)


class _AsyncConnection(AsyncConnection):
    async def handshake(self, *args: Any, **options: Any) -> None:
        with _refusals():
            await super().handshake(*args, **options)


def _options(connection: type[Any]) -> dict[str, Any]:
    return {"close_timeout": _CLOSE_TIMEOUT, "create_connection": connection}


@contextmanager
def _refusals() -> Iterator[None]:
    """If the server refused the socket, its answer is the error.

    The error must arise here: websockets follows a redirect if it sees one, and so the key could go to another host.
    """
    try:
        yield
    except InvalidStatus as error:
        response = error.response
        headers = {name.lower(): value for name, value in response.headers.raw_items()}
        raise ApiError(response.status_code, headers, _json(bytes(response.body or b""))) from error


class _Client:
    """Opens the sockets of a surface. `credential` is an API key, or the token of one session.

    `timeout` limits the opening, in seconds: 30 by default, and at most. `header_prefix` is the server's setting.
    """

    def __init__(
        self, base_url: str, credential: str, *, timeout: float = OPEN_TIMEOUT_MAX, header_prefix: str = "Service"
    ) -> None:
        self._server = SocketServer(base_url, credential, timeout, header_prefix)


class SocketClient(_Client):
    """Opens the sockets of a surface, for programs without asyncio."""

    def _socket(self, channel: Channel[S, R], **place: Unpack[Place]) -> Socket[S, R]:
        return Socket(self._server.target(channel, place), Conversation(channel.closes))


class AsyncSocketClient(_Client):
    """Opens the sockets of a surface, for programs with asyncio."""

    def _socket(self, channel: Channel[S, R], **place: Unpack[Place]) -> AsyncSocket[S, R]:
        return AsyncSocket(self._server.target(channel, place), Conversation(channel.closes))


class Socket(Generic[S, R]):
    """`with client.transcribe_stream() as socket: …`. Frames come until the server closes the socket.

    A close other than 1000 raises SocketClosedError, and a frame that is no JSON object or too long ProtocolError.
    """

    def __init__(self, target: Target, conversation: Conversation) -> None:
        self._target = target
        self._conversation = conversation
        self._connection: ClientConnection | None = None

    @property
    def close_code(self) -> int | None:
        """The close code. None while the socket is open."""
        return self._conversation.close_code

    def __enter__(self) -> Self:
        with _opening_errors():
            opening = connect(self._target.url, **self._target.arguments, **_options(_Connection))
            # Some versions of websockets return the connection itself, and others only here.
            self._connection = opening.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened().close()

    def send(self, frame: S) -> None:
        """Sends a text frame."""
        self._send(json.dumps(frame))

    def send_bytes(self, audio: bytes) -> None:
        """Sends a binary frame."""
        self._send(audio)

    def __iter__(self) -> Iterator[R | bytes]:
        while True:
            try:
                message = self._opened().recv()
            except ConnectionClosed as closed:
                error = self._conversation.closed(closed)
                if error is None:
                    return
                raise error from closed
            yield cast("R | bytes", self._conversation.frame_of(message))

    def _send(self, message: str | bytes) -> None:
        try:
            self._opened().send(message)
        except ConnectionClosed as closed:
            raise _send_error(self._conversation, closed) from closed

    def _opened(self) -> ClientConnection:
        if self._connection is None:
            raise RuntimeError("Open the socket first: with … as socket.")
        return self._connection


class AsyncSocket(Generic[S, R]):
    """`async with client.transcribe_stream() as socket: …`. Frames come until the server closes the socket.

    A close other than 1000 raises SocketClosedError, and a frame that is no JSON object or too long ProtocolError.
    """

    def __init__(self, target: Target, conversation: Conversation) -> None:
        self._target = target
        self._conversation = conversation
        self._connection: AsyncConnection | None = None

    @property
    def close_code(self) -> int | None:
        """The close code. None while the socket is open."""
        return self._conversation.close_code

    async def __aenter__(self) -> Self:
        with _opening_errors():
            opening = connect_async(self._target.url, **self._target.arguments, **_options(_AsyncConnection))
            self._connection = await opening
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened().close()

    async def send(self, frame: S) -> None:
        """Sends a text frame."""
        await self._send(json.dumps(frame))

    async def send_bytes(self, audio: bytes) -> None:
        """Sends a binary frame."""
        await self._send(audio)

    async def __aiter__(self) -> AsyncIterator[R | bytes]:
        while True:
            try:
                message = await self._opened().recv()
            except ConnectionClosed as closed:
                error = self._conversation.closed(closed)
                if error is None:
                    return
                raise error from closed
            yield cast("R | bytes", self._conversation.frame_of(message))

    async def _send(self, message: str | bytes) -> None:
        try:
            await self._opened().send(message)
        except ConnectionClosed as closed:
            raise _send_error(self._conversation, closed) from closed

    def _opened(self) -> AsyncConnection:
        if self._connection is None:
            raise RuntimeError("Open the socket first: async with … as socket.")
        return self._connection


@contextmanager
def _opening_errors() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise ApiTimeoutError("The socket did not open in time.", was_sent=False) from error
    except (OSError, InvalidHandshake) as error:
        raise ApiConnectionError(f"The socket did not open: {error}", was_sent=False) from error


def _json(body: bytes) -> object:
    try:
        return cast(object, json.loads(body[:ERROR_BYTES_MAX]))
    except ValueError:
        return None


def _send_error(conversation: Conversation, closed: ConnectionClosed) -> SocketClosedError:
    """After any close, a frame cannot be sent."""
    error = conversation.closed(closed)
    if isinstance(error, SocketClosedError):
        return error
    return SocketClosedError(conversation.close_code or 1000, "The socket is closed.", None, False, None)
