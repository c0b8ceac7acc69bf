"""A channel of the contract: its address, its frames, and the meaning of its close."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import quote, urlencode

from typing_extensions import TypedDict
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from .errors import ProtocolError, SocketClosedError
from .operations import USER_AGENT

S = TypeVar("S")
R = TypeVar("R")

CloseTable: TypeAlias = Mapping[str, bool]
"""Whether a new socket may succeed, by the code of the error that closed the last socket."""

FRAME_BYTES_MAX = 16 * 1024 * 1024
"""The longest frame that a socket accepts, in bytes."""

OPEN_TIMEOUT_MAX = 30.0
"""The limit for the opening of a socket, in seconds."""

_NORMAL_CLOSE = 1000
_ABNORMAL_CLOSE = 1006
_PROTOCOL_CLOSES = (1002, 1007, 1009)
"""The client closes with these codes if the server breaks the protocol, or sends a frame that is too long."""
_RETRYABLE_CLOSES = (_ABNORMAL_CLOSE, 1012, 1013)
"""Without an error code: the connection was lost, the server restarts, or the server has too much work."""


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
    """A server's address and header prefix, the credential for sockets, and the limit for the opening in seconds."""

    base_url: str
    credential: str
    timeout: float
    header_prefix: str

    def target(self, channel: Channel[Any, Any], place: Place) -> Target:
        url = self.base_url.rstrip("/").replace("http", "ws", 1) + channel.address
        for name, value in place.get("path", {}).items():
            url = url.replace(f"{{{name}}}", quote(value, safe=""))
        pairs = {name: value for name, value in place.get("query", {}).items() if value is not None}
        return Target(url + (f"?{urlencode(pairs)}" if pairs else ""), self._arguments(channel))

    def _arguments(self, channel: Channel[Any, Any]) -> Mapping[str, Any]:
        subprotocol = re.sub(r"^service\.", f"{self.header_prefix.lower()}.", channel.subprotocol or "")
        return {
            "additional_headers": {"Authorization": f"Bearer {self.credential}"},
            "subprotocols": [Subprotocol(subprotocol)] if subprotocol else None,
            "user_agent_header": USER_AGENT,
            "open_timeout": min(self.timeout, OPEN_TIMEOUT_MAX),
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
        try:
            frame = json.loads(message)
        except ValueError as error:
            raise ProtocolError("A frame is not JSON.") from error
        if not isinstance(frame, dict):
            raise ProtocolError("A frame is not a JSON object.")
        # An error that is not fatal leaves the socket open.
        if frame.get("type") == "error" and frame.get("fatal") is not False:
            self.error = frame["error"] if isinstance(frame.get("error"), dict) else frame
        return frame

    def closed(self, cause: ConnectionClosed) -> SocketClosedError | ProtocolError | None:
        """Returns None if the server closed with 1000, or if the caller closed."""
        received = cause.rcvd
        sent = None if cause.rcvd_then_sent else cause.sent
        if sent is not None and sent.code in _PROTOCOL_CLOSES:
            return ProtocolError(f"The server broke the protocol: {sent.reason}")
        is_closed_here = sent is not None and sent.code == _NORMAL_CLOSE
        self.close_code = _NORMAL_CLOSE if is_closed_here else received.code if received else _ABNORMAL_CLOSE
        if self.close_code == _NORMAL_CLOSE:
            return None
        reason = received.reason if received else ""
        code = self.error.get("code")
        frame = self.error if code is not None and (code in self.closes or code == reason) else {}
        code = frame.get("code", reason if reason in self.closes else None)
        retryable = frame.get("retryable", self.closes.get(str(code), self.close_code in _RETRYABLE_CLOSES)) is True
        return SocketClosedError(self.close_code, reason, code, retryable, frame.get("requestId"))
