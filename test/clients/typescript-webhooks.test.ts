/** The TypeScript client accepts the webhooks that the server signs, and refuses others. */
import t from 'tap'
import { webhookHeaders } from '../../domain/webhooks/signature.ts'
import { verifyWebhook } from '../../generated/clients/typescript/webhooks.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const other = 'a secret in words'
const nowMs = Date.parse('2026-11-28T12:00:00Z')
const body = JSON.stringify({ type: 'call.status', call_id: 'call_1' })
const signedBy = (...secrets: string[]) => webhookHeaders({ id: 'evt_1', nowMs, body }, secrets)

t.test('a webhook is accepted in any form of body and headers if one signature fits one secret', async (t) => {
  const headers = signedBy(secret)
  t.match(await verifyWebhook({ body, headers }, secret, { nowMs }), { type: 'call.status' })
  t.match(await verifyWebhook({ body: Buffer.from(body), headers: new Headers(headers) }, secret, { nowMs }), {})
  const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
  await verifyWebhook({ body, headers: upper }, secret, { nowMs })
  await verifyWebhook({ body, headers: signedBy(other, secret) }, secret, { nowMs })
  await verifyWebhook({ body, headers: signedBy(other) }, [secret, other], { nowMs })
})

t.test('a webhook with a wrong body, secret or time, or without a header, is refused with the reason', async (t) => {
  const headers = signedBy(secret)
  const refusals = [
    { reason: 'signature', request: { body: `${body} `, headers }, by: secret, at: nowMs },
    { reason: 'signature', request: { body, headers }, by: other, at: nowMs },
    { reason: 'signature', request: { body, headers: { ...headers, 'webhook-id': 'evt_2' } }, by: secret, at: nowMs },
    {
      reason: 'signature',
      request: { body, headers: { ...headers, 'webhook-signature': 'v1,%' } },
      by: secret,
      at: nowMs,
    },
    { reason: 'timestamp', request: { body, headers }, by: secret, at: nowMs + 301_000 },
    { reason: 'timestamp', request: { body, headers }, by: secret, at: nowMs - 301_000 },
    {
      reason: 'timestamp',
      request: { body, headers: { ...headers, 'webhook-timestamp': 'x' } },
      by: secret,
      at: nowMs,
    },
    {
      reason: 'header',
      request: { body, headers: { ...headers, 'webhook-signature': undefined } },
      by: secret,
      at: nowMs,
    },
  ] as const
  for (const { reason, request, by, at } of refusals)
    await t.rejects(verifyWebhook(request, by, { nowMs: at }), { name: 'WebhookVerificationError', reason })
})

t.test('a timestamp with 400 digits is refused, and an empty or missing secret throws a TypeError', async (t) => {
  const headers = { ...signedBy(secret), 'webhook-timestamp': '1'.repeat(400) }
  const refusal = { name: 'WebhookVerificationError', reason: 'timestamp' } as const
  await t.rejects(verifyWebhook({ body, headers }, secret, { nowMs }), refusal)
  for (const secrets of ['', 'whsec_', [], [secret, '']])
    await t.rejects(verifyWebhook({ body, headers: signedBy(secret) }, secrets, { nowMs }), TypeError)
})
