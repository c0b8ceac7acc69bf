"""Calls the client against the prepared answers of answers.ts, and prints the results by name."""

import asyncio
import base64
import hashlib
import hmac
import io
import json
import os
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial

from parley import (
    ApiConnectionError,
    ApiError,
    AsyncCompat,
    AsyncRouter,
    Compat,
    ParleyError,
    Platform,
    ProtocolError,
    Router,
)
from parley.engine.operations import AudioContent
from parley.schemas.router import LLMRequest
from parley.webhooks import WebhookVerificationError, verify_call_webhook

URL = os.environ["ANSWERS_URL"]
REQUEST: LLMRequest = {"input": [], "max_output_tokens": 1}
SECRETS = ["whsec_" + base64.b64encode(bytes([each]) * 32).decode() for each in (1, 2)]


def router(name: str, retries: int = 2) -> Router:
    return Router(f"{URL}/{name}/", "sk_test_1", retries=retries)


def error_of(run: Callable[[], object]) -> list[object]:
    try:
        run()
    except ApiError as error:
        return [error.status, error.code, error.type, error.retryable, error.request_id]
    except ParleyError as error:
        return [type(error).__name__]
    return []


def events_of(name: str) -> list[object]:
    with router(name).create_response_stream(REQUEST) as events:
        return [*events, events.last_event_id]


async def async_error_of(name: str) -> list[object]:
    async with AsyncRouter(f"{URL}/{name}", retries=1) as client:
        try:
            await client.create_response(REQUEST)
        except ApiError as error:
            return [error.status, error.code]
    return []


def chunks() -> list[object]:
    audio = (part for part in (b"RI", b"FF"))
    return error_of(lambda: Compat(f"{URL}/later").transcribe(audio))


async def pieces() -> AsyncIterator[bytes]:
    yield b"RI"
    yield b"FF"


class Pieces:
    """Can be read more than once."""

    def __iter__(self) -> Iterator[bytes]:
        yield from (b"RI", b"FF")


def sync_audio() -> list[AudioContent]:
    return [b"RIFF", [b"RI", b"FF"], (part for part in (b"RI", b"FF")), map(bytes, [b"RI", b"FF"]), io.BytesIO(b"RIFF"), Pieces()]


def transcribed() -> list[str]:
    compat = Compat(f"{URL}/transcribed")
    return [compat.transcribe(audio)["text"] for audio in sync_audio()]


async def async_transcribed() -> list[str]:
    async with AsyncCompat(f"{URL}/transcribed") as compat:
        return [(await compat.transcribe(audio))["text"] for audio in [*sync_audio(), pieces()]]


def unsent() -> list[object]:
    try:
        Router("http://127.0.0.1:9", retries=0).list_models()
    except ApiConnectionError as error:
        return [type(error).__name__, error.was_sent]
    return []


def form() -> list[object]:
    audio = io.BytesIO(b"RIFF")
    return error_of(lambda: router("refused").create_transcription({"audio": audio, "request": {"language": "en"}}))


def webhook(at: int = 1000, signer: int = 0, header: str = "webhook-signature") -> object:
    """Verifies a webhook with several signatures, one of them right, as at the time 1000. Returns its type or the refusal."""
    body = b'{"type": "call.status"}'
    key = base64.b64decode(SECRETS[signer].removeprefix("whsec_"))
    digest = base64.b64encode(hmac.digest(key, b"id.%d." % at + body, hashlib.sha256)).decode()
    headers = {"Webhook-Id": "id", "webhook-timestamp": str(at), header: f"v1,bm8= v2,x v1,{digest}"}
    try:
        return verify_call_webhook(body, headers, SECRETS[:1], now=1000)["type"]
    except WebhookVerificationError as error:
        return error.reason


def misuses() -> list[object]:
    """Returns the errors for missing or short secrets, and for path parts that would lead to another operation."""
    secrets: list[str | list[str]] = ["", "whsec_", [], [SECRETS[0], ""]]
    runs: list[Callable[[], object]] = [
        *(partial(verify_call_webhook, b"{}", {}, secret) for secret in secrets),
        *(partial(Platform(URL, "sk_test_1").get_agent, part) for part in ("", ".", "..")),
    ]
    found: list[object] = []
    for run in runs:
        try:
            run()
        except ValueError as error:
            found.append(type(error).__name__)
    return found


def broken(name: str) -> object:
    try:
        return events_of(name)
    except ProtocolError as error:
        return str(error)


with Compat(f"{URL}/failed") as compat:
    failed = error_of(lambda: list(compat.create_chat_completion_stream({"model": "m", "messages": []})))

print(
    json.dumps(
        {
            "later": error_of(lambda: router("later").create_response(REQUEST)),
            "own key": error_of(lambda: router("later").create_response(REQUEST, idempotency_key="mine")),
            "chunks": chunks(),
            "async": asyncio.run(async_error_of("later")),
            "transcribed": transcribed(),
            "async transcribed": asyncio.run(async_transcribed()),
            "tomorrow": error_of(lambda: router("tomorrow").create_response(REQUEST)),
            "refused": error_of(lambda: Platform(f"{URL}/refused").get_call("a/b")),
            "platform": error_of(lambda: Platform(f"{URL}/platform", retries=1).get_call("1")),
            "form": form(),
            "gateway": error_of(lambda: router("gateway").list_models()),
            "endless": error_of(lambda: router("endless").list_models()),
            "unknown": router("unknown").list_models(),
            "page": error_of(lambda: router("page").list_models()),
            "unsent": unsent(),
            "split": events_of("split"),
            "after": events_of("after"),
            "large": broken("large"),
            "failed": failed,
            "misuses": misuses(),
            "webhooks": [
                *(webhook(), webhook(at=700), webhook(at=699), webhook(at=1301)),
                *(webhook(signer=1), webhook(header="signature"), webhook(at=10**400)),
            ],
        }
    )
)
