/**
 * Emits webhooks.py: a function for each group of webhooks, which checks a signature and returns the webhook's body.
 */
import type { Surface } from '../../clients/model.ts'
import { snakeCase } from '../../clients/names.ts'
import { banner, docstring } from './print.ts'
import { webhookGroups } from './types.ts'

export function emitWebhooks(surface: Surface): string {
  const functions = webhookGroups(surface).map(({ group, name, events }) => {
    const doc = `Checks and returns a webhook of the group \`${group}\`: ${events.join(', ')}.\n\n${contract}`
    return `def verify_${snakeCase(group)}_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> types.${name}:
${docstring(doc, '    ')}    return cast("types.${name}", verified_body(body, headers, secret, tolerance, now))
`
  })
  const head = `${banner('webhooks', surface.file)}"""Checks webhooks from the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from .engine.signatures import TOLERANCE, WebhookVerificationError, verified_body
from .schemas import ${snakeCase(surface.name)} as types

__all__ = [${['WebhookVerificationError', ...webhookGroups(surface).map(({ group }) => `verify_${snakeCase(group)}_webhook`)].map((name) => `"${name}"`).join(', ')}]
`
  return [head, ...functions].join('\n\n')
}

/** The documentation that all functions have. */
const contract = `Pass the bytes of the body as they came, because the signature covers them. \`secret\` is the secret that signs, or a list while you replace it. \`tolerance\` is how far the webhook's time may be from the present, in seconds, and \`now\` the present in seconds since 1970. Raises WebhookVerificationError.`
