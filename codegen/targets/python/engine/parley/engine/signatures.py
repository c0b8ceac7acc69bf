"""Checks the signature of a webhook: Standard Webhooks 1.0, symmetric."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .errors import ParleyError

TOLERANCE = 300.0
"""How far the time of a webhook may be from the present, in seconds."""

_SIGNATURES_MAX = 8
"""While the server replaces a secret, a webhook has two signatures."""

_KEY_BYTES = range(24, 65)
_SECRET_CHARS_MIN = 8
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)


class WebhookVerificationError(ParleyError):
    """The webhook does not come from a server that has the secret, or the webhook was sent too long ago."""

    def __init__(self, reason: Literal["header", "timestamp", "signature", "body"], message: str) -> None:
        self.reason = reason
        super().__init__(message)


def verified_body(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    tolerance: float,
    now: float | None,
) -> Any:
    """Returns the JSON in a webhook's body if one signature fits one secret, and the webhook is recent."""
    secrets = _checked_secrets(secret)
    content = body.encode() if isinstance(body, str) else body
    known = {name.lower(): value for name, value in headers.items()}
    identifier, timestamp, signatures = (known.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not (identifier and timestamp and signatures):
        raise WebhookVerificationError("header", "A webhook header is missing.")
    _check_time(timestamp, tolerance, time.time() if now is None else now)
    message = f"{identifier}.{timestamp}.".encode() + content
    first = signatures.split(" ")[:_SIGNATURES_MAX]
    given = [_from_base64(text.removeprefix("v1,")) for text in first if text.startswith("v1,")]
    if not any(_is_signed(message, each, given) for each in secrets):
        raise WebhookVerificationError("signature", "No signature fits the secret.")
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise WebhookVerificationError("body", "The body is no JSON object.")
    return value


def _checked_secrets(secret: str | Sequence[str]) -> Sequence[str]:
    """Anybody can sign with an empty secret, such as that of a variable that is not set."""
    secrets = [secret] if isinstance(secret, str) else secret
    if not secrets or any(len(each) < _SECRET_CHARS_MIN for each in secrets):
        raise ValueError(f"The secret of a webhook has at least {_SECRET_CHARS_MIN} characters.")
    return secrets


def _check_time(timestamp: str, tolerance: float, now: float) -> None:
    if not _SECONDS.fullmatch(timestamp) or abs(now - int(timestamp)) > tolerance:
        raise WebhookVerificationError("timestamp", "The webhook is too old, or from the future.")


def _is_signed(message: bytes, secret: str, signatures: Sequence[bytes | None]) -> bool:
    expected = hmac.new(_key(secret), message, hashlib.sha256).digest()
    return any(hmac.compare_digest(expected, signature) for signature in signatures if signature is not None)


def _key(secret: str) -> bytes:
    """A secret in the standard's form is decoded from base64. Any other text is used unchanged."""
    key = _from_base64(secret.removeprefix("whsec_")) if secret.startswith("whsec_") else None
    return key if key is not None and len(key) in _KEY_BYTES else secret.encode()


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
