/** Calls from rich-message numbers, over the simulated carrier. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { call, faultOf, openAdministration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { insertRmsgNumber } from '../rmsg/stored-number.ts'
import { send, type Target } from '../router/requests.ts'
import { hasEnded } from './call-rows.ts'
import { callWhen, startPhones } from './phones.ts'
import { insertNumber } from './stored-number.ts'

const phones = await startPhones()
const { clock } = phones
t.teardown(() => phones.close())
const admin = await openAdministration(phones.server)
t.teardown(() => admin.close())
const sql = openDatabase(phones.server)
t.teardown(() => sql.end())

type Started = { callId: string; callControlId: string; from: string; to: string; phoneNumberId: string }
type Listed = { id: string; phoneNumber: string; agentId: string | null }

const to = '+15005550006'
const path = (id: string) => `/v1/rmsg-phone-numbers/${id}/calls`
const listed = async (target: Target) => (await call(target, 'GET', '/v1/rmsg-phone-numbers')).json<Listed[]>()
const [number] = (await listed(phones)) as [Listed, Listed]

const scopes = ['platform', 'rmsg'] as const
const silent = { name: 'Listens', systemPrompt: 'Be brief.', intent: { language: 'en-US' } }

/** Makes an organization with a rich-message number in its pool, and an agent to which this number is not assigned. */
async function withNumber(name: string, e164: string, more: { creditMicroUsd?: number } = {}) {
  const acme = { ...(await admin.organization(name, { scopes, ...more })), clock }
  await admin.store.organizations.change(acme.id, { rmsgEnabled: true })
  const id = await insertRmsgNumber(sql, { e164, organizationId: acme.id })
  const agentId = (await call(acme, 'POST', '/v1/agents', silent)).json<{ id: string }>().id
  return { acme, id, agentId }
}

t.test('a call from a rich-message number is a conversation, and has an ordinary call record', async (t) => {
  const wanted = { to, agentId: phones.agentId, metadata: { order: '4711' }, maxDurationSeconds: 600 }
  const answer = await call(phones, 'POST', path(number.id), wanted)
  t.equal(answer.status, 200, answer.text)
  const started = answer.json<Started>()
  t.match(started, {
    callControlId: /^leg_/,
    status: 'dialing',
    to,
    from: number.phoneNumber,
    phoneNumberId: number.id,
  })
  const row = await callWhen(phones, started.callId, hasEnded)
  t.match(row, { status: 'completed', direction: 'outbound', kind: 'rmsg', from: number.phoneNumber, to })
  t.match(row, { metadata: { order: '4711', phoneNumberId: number.id, callerNumber: number.phoneNumber } })
  t.ok(
    row.transcript.entries.some(({ source }) => source === 'user'),
    'the person was understood',
  )
  t.equal((await call(phones, 'GET', `/v1/calls/${started.callId}/report`)).status, 200)
})

t.test('a call from a rich-message number can be transferred and ended', async (t) => {
  const { callId } = (
    await call(phones, 'POST', path(number.id), { to: '+15005550011', agentId: phones.agentId })
  ).json<Started>()
  await callWhen(phones, callId, ({ status }) => status === 'in_progress')
  const transfer = await call(phones, 'POST', `/v1/calls/${callId}/transfers/blind`, { to: '+15005550006' })
  t.equal(transfer.status, 201, transfer.text)
  await call(phones, 'POST', `/v1/calls/${callId}/end`)
  await callWhen(phones, callId, hasEnded)
})

t.test('without an agent in the request, a call uses the agent that answers on the number', async (t) => {
  const { acme, id, agentId } = await withNumber('usual agent', '+14155550140')
  const none = await call(acme, 'POST', path(id), { to })
  t.same(faultOf(none), { status: 400, code: 'VALIDATION_ERROR', paths: ['/agentId'] })
  const rmsg = { enabled: true, mode: 'dedicated', phoneNumberId: id }
  t.equal((await call(acme, 'PATCH', `/v1/agents/${agentId}`, { rmsg })).status, 200)
  const started = await call(acme, 'POST', path(id), { to: '+15005550003' })
  t.equal(started.status, 200, started.text)
  const row = await callWhen(acme, started.json<Started>().callId, hasEnded)
  t.match(row, { agent_id: agentId, status: 'busy' })
})

t.test('an unusable number and an agent of another organization are answered with 404', async (t) => {
  const { acme, id, agentId } = await withNumber('limits of numbers', '+14155550141')
  const other = await withNumber('another', '+14155550142')
  const paused = await insertRmsgNumber(sql, { e164: '+14155550143', organizationId: acme.id, status: 'paused' })
  const lost = await insertRmsgNumber(sql, { e164: '+14155550144', organizationId: acme.id, status: 'unavailable' })
  for (const one of [other.id, paused, lost, randomUUID()])
    t.same(faultOf(await call(acme, 'POST', path(one), { to, agentId })), {
      status: 404,
      code: 'PHONE_NUMBER_NOT_FOUND',
    })
  t.match(faultOf(await call(acme, 'POST', path('nothing'), { to, agentId })), {
    status: 400,
    code: 'VALIDATION_ERROR',
  })
  const stolen = await call(acme, 'POST', path(id), { to, agentId: other.agentId })
  t.same(faultOf(stolen), { status: 404, code: 'NOT_FOUND' })
  const test = { ...(await admin.key(acme.id, { scopes, test: true })), clock }
  const inTest = await call(test, 'POST', path(id), { to, agentId })
  t.match(faultOf(inTest), { status: 403, code: 'NOT_ENABLED_FOR_ORGANIZATION' }, 'a number of the live world')
})

t.test('a call by an organization without rich messages is refused before the body is read', async (t) => {
  const acme = { ...(await admin.organization('without', { scopes })), clock }
  const headers = { 'content-type': 'application/json' }
  const answer = await send(acme, path(number.id), { method: 'POST', body: '{ no JSON', headers })
  t.same(faultOf(answer), { status: 403, code: 'NOT_ENABLED_FOR_ORGANIZATION' })
})

/** Returns metadata with this size as JSON. */
const metadataOf = (bytes: number) => ({ a: 'x'.repeat(bytes - JSON.stringify({ a: '' }).length) })
const nested = (depth: number): object => (depth === 1 ? { a: 1 } : { a: nested(depth - 1) })

t.test('a call at each limit is accepted, and a call beyond a limit is refused', async (t) => {
  const { acme, id, agentId } = await withNumber('limits', '+14155550145')
  const wanted = (more: object, of = id) => call(acme, 'POST', path(of), { to: '+15005550001', agentId, ...more })
  const refused: [object, string][] = [
    [{ maxDurationSeconds: 29 }, '/maxDurationSeconds'],
    [{ maxDurationSeconds: 14_401 }, '/maxDurationSeconds'],
    [{ to: '+15550001111' }, '/to'],
    [{ to: '0711' }, '/to'],
    [{ from: '+14155550145' }, '/from'],
    [{ variables: { system: 'x' } }, '/variables'],
    [{ variables: { name: 1 } }, '/variables/name'],
    [{ metadata: metadataOf(16_385) }, '/metadata'],
    [{ metadata: nested(9) }, '/metadata'],
  ]
  for (const [more, at] of refused) {
    const refusal = { status: 400, code: 'VALIDATION_ERROR', paths: [at] }
    t.match(faultOf(await wanted(more)), refusal)
    t.match(faultOf(await wanted(more, randomUUID())), refusal, 'the body is checked before the number is looked up')
  }
  const taken = [{ maxDurationSeconds: 30 }, { maxDurationSeconds: 14_400 }]
  for (const more of [...taken, { metadata: metadataOf(16_384) }, { metadata: nested(8) }]) {
    const answer = await wanted(more)
    t.match(
      faultOf(answer),
      { status: 502, code: 'CARRIER_DIAL_FAILED' },
      'the carrier was asked, and refuses this one',
    )
  }
})

t.test(
  'an organization at its limit of calls gets 429 with Retry-After, for calls from phone and rich-message numbers',
  async (t) => {
    const { acme, id, agentId } = await withNumber('busy', '+14155550157')
    await insertNumber(sql, { organizationId: acme.id, test: false }, { e164: '+14155550158' })
    await admin.store.organizations.change(acme.id, { maxSessions: 1 })
    const first = await call(acme, 'POST', path(id), { to: '+15005550006', agentId })
    t.equal(first.status, 200, first.text)
    const exhausted = { status: 429, code: 'CONCURRENCY_EXHAUSTED' }
    const asks = [
      [path(id), { to, agentId }],
      ['/v1/sessions/phone', { to, agentId }],
    ] as const
    for (const [at, body] of asks) {
      const answer = await call(acme, 'POST', at, body)
      t.match(faultOf(answer), exhausted, at)
      t.match(answer.headers.get('retry-after'), /^[1-9]\d*$/, at)
    }
    await call(acme, 'POST', `/v1/calls/${first.json<Started>().callId}/end`)
  },
)

t.test('a call from a rich-message number needs credit', async (t) => {
  const { acme, id, agentId } = await withNumber('poor', '+14155550146', { creditMicroUsd: 0 })
  t.match(faultOf(await call(acme, 'POST', path(id), { to, agentId })), { status: 402, code: 'INSUFFICIENT_CREDITS' })
})

t.test('a repeated request with the same Idempotency-Key places no call', async (t) => {
  const { acme, id, agentId } = await withNumber('repeats', '+14155550147')
  const headers = { 'idempotency-key': randomUUID(), 'content-type': 'application/json' }
  const body = JSON.stringify({ to: '+15005550003', agentId })
  const dial = () => send(acme, path(id), { method: 'POST', body, headers })
  const first = await dial()
  const again = await dial()
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  t.same(again.json(), first.json())
  await callWhen(acme, first.json<Started>().callId, hasEnded)
})
