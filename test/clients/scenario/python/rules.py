"""The rules for requests: retries, redirects, headers, time limits, errors, and the check of webhooks."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from parley import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    AsyncCompat,
    AsyncRouter,
    ParleyError,
    ProtocolError,
    Router,
)
from parley.schemas.router import LLMRequest
from parley.webhooks import WebhookVerificationError, verify_call_webhook

from settings import QUESTION, Steps

URL = os.environ["PARLEY_RULES_URL"]
CASES = json.loads(Path(os.environ["PARLEY_WEBHOOK_CASES"]).read_text())
REQUEST: LLMRequest = {"input": [QUESTION], "max_output_tokens": 20}
TIMEOUT_SECONDS = 1.0


def retries() -> Mapping[str, object]:
    names = ("limited", "progress", "broken", "upstream", "overloaded", "late", "final", "begun")
    key = {"idempotency-KEY": "mine"}
    return {
        "posts": errors_of(names, lambda name: at(name).create_response(REQUEST)),
        "reads": errors_of(names, read),
        "with_key": error_of(lambda: at("limited").create_response(REQUEST, headers=key)),
    }


def redirects() -> Mapping[str, object]:
    return errors_of(("moved", "other", "temporary"), lambda name: at(name).create_response(REQUEST))


def headers() -> Mapping[str, object]:
    return asyncio.run(sent_headers())


async def sent_headers() -> Mapping[str, object]:
    intent: Any = {"language": "dé🎵"}
    async with AsyncCompat(f"{URL}/headers//", header_prefix="Voice") as client:
        answer = await client.transcribe(b"\0\0", x_service_intent=intent, content_type="audio/l16; rate=8000")
    return {"text": answer["text"]}


def failures() -> Mapping[str, object]:
    return {
        **errors_of(("reset", "cut"), lambda name: at(name).create_response(REQUEST)),
        **errors_of(("page", "gateway", "text", "longest", "longer"), read),
        "refused": error_of(lambda: Router("http://127.0.0.1:2", retries=1).list_models()),
    }


def timeouts() -> Mapping[str, object]:
    return {
        **errors_of(("silent", "slow"), lambda name: at(name).list_models(timeout=TIMEOUT_SECONDS)),
        **errors_of(("audio", "stalled"), lambda name: at(name).create_speech({"input": "Hi."}, timeout=TIMEOUT_SECONDS)),
        "paused": error_of(lambda: list(at("paused").create_response_stream(REQUEST, timeout=TIMEOUT_SECONDS))),
    }


def webhooks() -> Mapping[str, object]:
    return {case["name"]: result_of(case) for case in CASES}


def at(answer: str) -> Router:
    """The key comes from PARLEY_API_KEY."""
    return Router(f"{URL}/{answer}")


def read(answer: str) -> object:
    """Reads with the async client."""

    async def models() -> object:
        async with AsyncRouter(f"{URL}/{answer}") as client:
            return await client.list_models()

    return asyncio.run(models())


def errors_of(names: Sequence[str], run: Callable[[str], object]) -> dict[str, object]:
    return {name: error_of(lambda name=name: run(name)) for name in names}  # type: ignore[misc]


def error_of(run: Callable[[], object]) -> object:
    try:
        run()
    except ApiError as error:
        return error.status
    except ApiTimeoutError:
        return "timeout"
    except ProtocolError:
        return "protocol"
    except ApiConnectionError as error:
        return "lost" if error.was_sent else "unsent"
    except ParleyError as error:
        return type(error).__name__
    return None


def result_of(case: Mapping[str, Any]) -> object:
    try:
        return verify_call_webhook(case["body"], case["headers"], case["secrets"], now=case["now"])["type"]
    except WebhookVerificationError as error:
        return error.reason
    except ValueError:
        return "misuse"


STEPS: Steps = {
    "rule_retries": retries,
    "rule_redirects": redirects,
    "rule_headers": headers,
    "rule_errors": failures,
    "rule_timeouts": timeouts,
    "rule_webhooks": webhooks,
}
