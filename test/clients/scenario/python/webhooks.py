"""A signed webhook, a list in pages, and an error answer."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from parley import ApiError
from parley.webhooks import WebhookVerificationError, verify_call_webhook

from settings import Steps, platform

SENT = json.loads(Path(os.environ["PARLEY_WEBHOOK"]).read_text())
SECRET = os.environ["PARLEY_WEBHOOK_SECRET"]
SESSIONS_MORE = 4
PAGES_MAX = 10


def webhook() -> Mapping[str, object]:
    return {"type": verify_call_webhook(SENT["body"], SENT["headers"], SECRET)["type"]}


def webhook_refused() -> Mapping[str, object]:
    try:
        verify_call_webhook(SENT["body"] + " ", SENT["headers"], SECRET)
    except WebhookVerificationError as error:
        return {"error": error.reason}
    return {"error": None}


def pages() -> Mapping[str, object]:
    for _ in range(SESSIONS_MORE):
        platform.create_session({"intent": {"language": "en"}})
    sizes, ids = list[int](), set[str]()
    cursor = None
    for _ in range(PAGES_MAX):
        page = platform.list_sessions(limit=2, cursor=cursor)
        sizes.append(len(page["entries"]))
        ids.update(entry["sessionId"] for entry in page["entries"])
        cursor = page["nextCursor"]
        if cursor is None:
            break
    return {"sizes": sizes, "ids": len(ids)}


def not_found() -> Mapping[str, object]:
    try:
        platform.get_call("0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b")
    except ApiError as error:
        return {"status": error.status, "code": error.code}
    return {"status": 200}


STEPS: Steps = {"webhook": webhook, "webhook_refused": webhook_refused, "pages": pages, "not_found": not_found}
