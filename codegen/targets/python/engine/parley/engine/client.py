"""The sync client of a surface: one request for a call, retries, and streams."""

from __future__ import annotations

import os
import time
from typing import ClassVar, TypeVar

import httpx
from typing_extensions import Self, Unpack

from .answers import ERROR_BYTES_MAX, Audio, Body, bytes_max_of, connection_errors, error_of, value_of
from .errors import ApiConnectionError, ApiError, ErrorTable
from .operations import Arguments, CallOptions, Operation, Server, is_repeatable
from .resume import Progress, resumed
from .retries import pause_before
from .settings import RETRIES, TIMEOUT, limits_of, reader_for
from .streams import AudioStream, EventStream

T = TypeVar("T")


class Client:
    """A client of one surface. It keeps its connections open, so use one client for many calls.

    `base_url` is the server's address. The default of `api_key` is the environment variable PARLEY_API_KEY. `timeout`
    is in seconds: it limits the time of a whole answer, or for a stream the time until it begins, and then of each
    read. `retries` is how many times a request is sent again after a failure that permits it. `header_prefix` is the
    server's setting, if its operator has changed it. `http_client` is your own httpx client, for proxies and
    certificates; you close it yourself.
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
        http_client: httpx.Client | None = None,
    ) -> None:
        self.timeout = timeout
        self.retries = retries
        self._server = Server(base_url, self._prefix, api_key or os.environ.get("PARLEY_API_KEY"), header_prefix)
        self._is_own = http_client is None
        self._http = http_client or httpx.Client()

    def close(self) -> None:
        """Closes all connections."""
        if self._is_own:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, operation: Operation[T], options: CallOptions, **arguments: Unpack[Arguments]) -> T:
        response = self._open(operation, options, arguments)
        return value_of(operation, response, self._read(response, bytes_max_of(operation)))

    def _events(self, operation: Operation[T], options: CallOptions, **arguments: Unpack[Arguments]) -> EventStream[T]:
        return EventStream(
            lambda last_id: self._open(operation, *resumed(options, arguments, last_id)),
            lambda response: reader_for(operation, response, self._errors),
            Progress(operation.identity),
        )

    def _chunks(self, operation: Operation[Audio], options: CallOptions, **arguments: Unpack[Arguments]) -> AudioStream:
        return AudioStream(lambda: self._open(operation, options, arguments))

    def _open(self, operation: Operation[T], options: CallOptions, arguments: Arguments) -> httpx.Response:
        """Sends the request, and again if the failure permits it. Returns an answer of 2xx whose body was not read."""
        retries = options.get("retries", self.retries) if is_repeatable(options, arguments.get("body")) else 0
        retry = 0
        while True:
            try:
                return self._attempt(operation, options, arguments)
            except (ApiError, ApiConnectionError) as error:
                pause = pause_before(retry, error, operation.method) if retry < retries else None
                if pause is None:
                    raise
            time.sleep(pause)
            retry += 1

    def _attempt(self, operation: Operation[T], options: CallOptions, arguments: Arguments) -> httpx.Response:
        limits = limits_of(options.get("timeout", self.timeout))
        request = self._http.build_request(**self._server.request(operation, options, arguments), **limits)
        with connection_errors():
            response = self._http.send(request, stream=True, follow_redirects=False)
        if response.is_success:
            return response
        raise error_of(response, self._read(response, ERROR_BYTES_MAX), self._errors)

    def _read(self, response: httpx.Response, bytes_max: int | None) -> Body:
        body = Body(response, bytes_max)
        try:
            with connection_errors():
                for chunk in response.iter_bytes():
                    if not body.add(chunk):
                        break
        finally:
            response.close()
        return body
