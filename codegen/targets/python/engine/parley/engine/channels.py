"""A channel of the contract: its address, its frames, and the meaning of its close."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import quote, urlencode

from typing_extensions import TypedDict
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from .errors import SocketClosedError
from .operations import USER_AGENT

S = TypeVar("S")
R = TypeVar("R")

CloseTable: TypeAlias = Mapping[str, bool]
"""Whether a new socket may succeed, by the code of the error that closed the last socket."""

FRAME_BYTES_MAX = 1024 * 1024
"""The longest frame that a socket accepts, in bytes."""

OPEN_TIMEOUT = 10.0
"""The default limit for the opening of a socket, in seconds."""

_NORMAL_CLOSE = 1000
_ABNORMAL_CLOSE = 1006


@dataclass(frozen=True)
class Channel(Generic[S, R]):
    """S are the frames that the client sends, and R the frames that it receives."""

    address: str
    subprotocol: str | None
    closes: CloseTable


class Place(TypedDict, total=False):
    """The arguments of a socket, by their place in the address. None is left out."""

    path: Mapping[str, str]
    query: Mapping[str, str | None]


@dataclass(frozen=True)
class Target:
    """The address of a socket, and the arguments for `connect`."""

    url: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class SocketServer:
    """A server's address, the credential for sockets to it, and the limit for the opening in seconds."""

    base_url: str
    credential: str
    timeout: float

    def target(self, channel: Channel[Any, Any], place: Place) -> Target:
        url = self.base_url.rstrip("/").replace("http", "ws", 1) + channel.address
        for name, value in place.get("path", {}).items():
            url = url.replace(f"{{{name}}}", quote(value, safe=""))
        pairs = {name: value for name, value in place.get("query", {}).items() if value is not None}
        return Target(url + (f"?{urlencode(pairs)}" if pairs else ""), self._arguments(channel))

    def _arguments(self, channel: Channel[Any, Any]) -> Mapping[str, Any]:
        return {
            "additional_headers": {"Authorization": f"Bearer {self.credential}"},
            "subprotocols": [Subprotocol(channel.subprotocol)] if channel.subprotocol else None,
            "user_agent_header": USER_AGENT,
            "open_timeout": self.timeout,
            "max_size": FRAME_BYTES_MAX,
            # Compression would delay audio, which does not get smaller.
            "compression": None,
        }


@dataclass
class Conversation:
    """The state of one socket: its last error, and its close."""

    closes: CloseTable
    close_code: int | None = None
    error: Mapping[str, Any] = field(default_factory=dict)

    def frame_of(self, message: str | bytes) -> Any:
        if isinstance(message, bytes):
            return message
        frame = json.loads(message)
        if isinstance(frame, dict) and frame.get("type") == "error":
            self.error = frame["error"] if isinstance(frame.get("error"), dict) else frame
        return frame

    def closed(self, cause: ConnectionClosed) -> SocketClosedError | None:
        """Returns None after a normal close."""
        received = cause.rcvd
        self.close_code = received.code if received else _ABNORMAL_CLOSE
        if self.close_code == _NORMAL_CLOSE:
            return None
        reason = received.reason if received else ""
        code = self.error.get("code") or (reason if reason in self.closes else None)
        retryable = self.error.get("retryable", self.closes.get(str(code), False)) is True
        return SocketClosedError(self.close_code, reason, code, retryable, self.error.get("requestId"))
