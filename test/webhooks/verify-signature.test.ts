/** Tests verifyWebhookSignature with requests that an endpoint has really received. */
import t from 'tap'
import { webhookHeaders } from '../../domain/webhooks/signature.ts'
import { call, faultOf, startAdministered } from '../platform/setup.ts'
import type { Target } from '../router/requests.ts'
import { startReceiver } from './receiver.ts'

const { admin } = await startAdministered(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })

type Headers = Record<string, string>
type Verdict = { valid: boolean; reason: string | null; secondsOff: number | null }

const verify = async (target: Target, id: string, headers: Headers, body: string) =>
  (await call(target, 'POST', `/v1/webhooks/${id}/verify`, { headers, body })).json<Verdict>()

/** Makes an endpoint, and has one event sent to it. */
async function received(target: Target) {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const endpoint = { name: 'Reports', url: receiver.url, events: ['call.report'] }
  const { id } = (await call(target, 'POST', '/v1/webhooks', endpoint)).json<{ id: string }>()
  t.equal((await call(target, 'POST', `/v1/webhooks/${id}/test`)).status, 200)
  const [one] = receiver.received
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  const headers = Object.fromEntries(names.map((name) => [name, String(one?.headers[name])]))
  return { id, headers, body: one?.body.toString() ?? '' }
}

t.test('verifyWebhookSignature accepts a request as received, or gives the reason why it is not valid', async (t) => {
  const acme = await admin.organization('signed', { scopes: ['platform', 'admin'] })
  const { id, headers, body } = await received(acme)
  const valid = await verify(acme, id, headers, body)
  t.match(valid, { valid: true, reason: null })
  t.ok(Math.abs(valid.secondsOff ?? 1000) <= 60)
  t.match(await verify(acme, id, headers, `${body} `), { valid: false, reason: 'body_changed' })
  t.match(await verify(acme, id, { ...headers, 'webhook-id': 'other' }, body), { valid: false, reason: 'no_match' })
  t.match(await verify(acme, id, { ...headers, 'webhook-signature': 'v1,x' }, body), { reason: 'no_match' })
  for (const missing of Object.keys(headers)) {
    const others = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== missing))
    t.match(await verify(acme, id, others, body), { valid: false, reason: 'missing_header' })
  }
  const odd = { valid: false, reason: 'no_match', secondsOff: null }
  t.same(await verify(acme, id, { ...headers, 'webhook-timestamp': 'noon' }, body), odd)
})

t.test('verifyWebhookSignature reports too old requests, and requests signed with the previous secret', async (t) => {
  const acme = await admin.organization('rotated', { scopes: ['platform', 'admin'] })
  const { id, headers, body } = await received(acme)
  const secret = async () => (await call(acme, 'GET', '/v1/webhook-secret')).json<{ secret: string }>().secret
  const first = await secret()
  const old = webhookHeaders({ id: headers['webhook-id'] ?? '', nowMs: Date.now() - 301_000, body }, [first])
  t.match(await verify(acme, id, old, body), { valid: false, reason: 'too_old' })
  const early = webhookHeaders({ id: 'x', nowMs: Date.now() + 400_000, body }, [first])
  t.ok(((await verify(acme, id, early, body)).secondsOff ?? 0) < -300)
  t.equal((await call(acme, 'POST', '/v1/webhook-secret/rotate', { overlapSeconds: 3600 })).status, 200)
  t.match(await verify(acme, id, headers, body), { valid: true, reason: 'previous_secret' })
  const both = webhookHeaders({ id: 'x', nowMs: Date.now(), body }, [first, await secret()])
  t.match(await verify(acme, id, both, body), { valid: true, reason: null })
  const beta = await admin.organization('beside')
  const other = await call(beta, 'POST', `/v1/webhooks/${id}/verify`, { headers, body })
  t.same(faultOf(other), { status: 404, code: 'NOT_FOUND' })
})
