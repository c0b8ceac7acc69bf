/** A carrier's signed events are checked and translated to leg events. */
import { generateKeyPairSync, sign } from 'node:crypto'
import t, { type Test } from 'tap'
import type { LegEvent, LegEvents, LineName } from '../../domain/ports/phone-line.ts'
import { Fault } from '../../domain/records/fault.ts'
import { widenInternalHandlers } from '../../generated/internal/handlers.ts'
import { internalSurface } from '../../generated/internal/routes.ts'
import { receiveCarrierWebhook } from '../../handlers/carrier/webhooks.ts'
import { compatPlaces } from '../../handlers/faults/places.ts'
import { createFaultWriter } from '../../handlers/faults/writer.ts'
import { createTelnyxWebhooks } from '../../providers/telnyx/webhooks.ts'
import { TestClock } from '../clock.ts'
import { start } from '../http/harness.ts'
import { carrierLegId } from './carrier-api.ts'
import { legId } from './setup.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const other = generateKeyPairSync('ed25519').privateKey
const rawKey = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
const client_state = Buffer.from(legId).toString('base64')

const eventOf = (event_type: string, payload: object, id = 'event_1') => ({
  data: {
    record_type: 'event',
    event_type,
    id,
    occurred_at: '2026-11-21T22:25:27.521992Z',
    payload: { call_control_id: carrierLegId, client_state, connection_id: '7', ...payload },
  },
  meta: { attempt: 1 },
})

class KeptEvents implements LegEvents {
  readonly kept: [LineName, LegEvent][] = []
  readonly ignored: [LineName, string][] = []
  failure: Error | null = null
  received(line: LineName, event: LegEvent): Promise<void> {
    if (this.failure) return Promise.reject(this.failure)
    this.kept.push([line, event])
    return Promise.resolve()
  }
}

async function serve(t: Test) {
  const clock = new TestClock()
  const events = new KeptEvents()
  const readers = new Map<LineName, ReturnType<typeof createTelnyxWebhooks>>([
    ['carrier', createTelnyxWebhooks({ publicKey: rawKey, clock })],
  ])
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  const words = { contract: '/x', hasIdempotencyKeys: false, places: compatPlaces }
  const operations = internalSurface.operations.filter(({ id }) => id === 'receiveCarrierWebhook')
  const paths = internalSurface.paths.filter(({ pattern }) => pattern.startsWith('/carrier'))
  const handlers = receiveCarrierWebhook({
    readers,
    events,
    countIgnored: (...ignored) => void events.ignored.push(ignored),
  })
  const server = await start([
    {
      surface: { name: 'internal', operations, paths },
      basePath: '',
      host: null,
      handlers: widenInternalHandlers(handlers as Parameters<typeof widenInternalHandlers>[0]),
      writeFault: createFaultWriter({ ...words, log: quiet, count: () => {}, headerPrefix: 'Service' }),
      corsOrigins: [],
      quota: false,
      health: true,
    },
  ])
  t.teardown(() => server.stop())
  const nowS = () => Math.floor(clock.nowMs() / 1000)
  const send = async (
    body: string | object,
    { line = 'carrier', timestamp = String(nowS()), key = privateKey, signature = '', signed = '' } = {},
  ) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const proof = signature || sign(null, Buffer.from(`${timestamp}|${signed || text}`), key).toString('base64')
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (proof !== 'none') headers['telnyx-signature-ed25519'] = proof
    if (timestamp !== 'none') headers['telnyx-timestamp'] = timestamp
    const url = `${server.url}/carrier/${line}/webhooks`
    const response = await fetch(url, { method: 'POST', headers, body: text })
    return { status: response.status, body: (await response.json()) as object }
  }
  return { clock, events, send, nowS }
}

t.test("an event with the carrier's signature is accepted and processed", async (t) => {
  const { send, events } = await serve(t)
  t.same(await send(eventOf('call.answered', {})), { status: 200, body: { received: true } })
  const event = {
    id: 'event_1',
    occurredAtMs: Date.parse('2026-11-21T22:25:27.521Z'),
    carrierLegId,
    legId,
    type: 'answered',
  }
  t.strictSame(events.kept, [['carrier', event]])
  events.failure = new Fault({ kind: 'store_unreachable' })
  t.equal((await send(eventOf('call.answered', {}))).status, 503, 'the carrier sends it again')
})

t.test('a forged, unsigned or stale event is answered 401 and not processed', async (t) => {
  const { send, events, nowS } = await serve(t)
  const event = eventOf('call.hangup', {})
  const forged = [
    await send(event, { key: other }),
    await send(event, { signature: 'none' }),
    await send(event, { timestamp: 'none', signature: 'AAAA' }),
    await send(event, { signature: 'AAAA' }),
    await send(event, { signature: '!'.repeat(88) }),
    await send(event, { signed: JSON.stringify(eventOf('call.answered', {})) }),
    await send(event, { timestamp: String(nowS() - 301) }),
    await send(event, { timestamp: String(nowS() + 301) }),
    await send(event, { timestamp: 'now' }),
    await send(event, { timestamp: '1e9' }),
    await send(event, { timestamp: '1'.repeat(400) }),
    await send(event, { signature: 'A'.repeat(400) }),
    await send('{"data":"not an event"}', { key: other }),
  ]
  t.same(
    forged.map(({ status }) => status),
    forged.map(() => 401),
  )
  t.match(forged[0]?.body, { error: { code: 'authentication_failed' } })
  t.same(events.kept, [])
  t.same(
    events.ignored,
    forged.map(() => ['carrier', 'forged']),
  )
  t.equal((await send(event, { timestamp: String(nowS() - 299) })).status, 200)
  t.equal((await send(event, { timestamp: String(nowS() + 299) })).status, 200)
  t.equal((await send(event, { line: 'simulator' })).status, 404, 'a line that this server has not')
  t.equal((await send(event, { line: 'trunk' })).status, 400)
})

t.test('an event that belongs to no leg, or is malformed, is accepted and dropped', async (t) => {
  const { send, events } = await serve(t)
  for (const body of [
    eventOf('call.cost', {}),
    eventOf('message.received', {}),
    eventOf('toString', {}),
    eventOf('call.answered', { call_control_id: 7 }),
    eventOf('call.dtmf.received', { digit: '12' }),
    eventOf('call.initiated', { direction: 'incoming' }),
    { data: { ...eventOf('call.answered', {}).data, occurred_at: 'yesterday' } },
    { data: null },
    {},
  ])
    t.equal((await send(body)).status, 200, JSON.stringify(body))
  t.same(events.kept, [])
})

t.test('every event of a leg is translated', async (t) => {
  const { send, events } = await serve(t)
  const bodyOf = async (type: string, payload: object) => {
    await send(eventOf(type, payload))
    const [, event] = events.kept.at(-1)!
    const head = ['id', 'occurredAtMs', 'carrierLegId', 'legId']
    return Object.fromEntries(Object.entries(event).filter(([name]) => !head.includes(name)))
  }
  const noForwarding = {
    forwardedFrom: null,
    originalTo: null,
    redirectingNumber: null,
    diversion: [],
    historyInfo: [],
    privacy: [],
  }
  const call = { direction: 'incoming', from: '+13035550100', to: '+13035550111', state: 'parked' }
  t.strictSame(await bodyOf('call.initiated', call), {
    type: 'initiated',
    direction: 'incoming',
    from: '+13035550100',
    to: '+13035550111',
    connectionId: '7',
    forwarding: noForwarding,
  })
  for (const from of ['anonymous', '+anonymous', 'Restricted', 'Unavailable', 'unknown', '', null, undefined])
    t.match(await bodyOf('call.initiated', { ...call, from }), { from: null }, String(from))
  t.strictSame(
    await bodyOf('call.initiated', {
      ...call,
      direction: 'outgoing',
      forwarded_from: '+13035550122',
      original_to: '+13035550133',
      redirecting_number: '+13035550144',
      sip_headers: [
        { name: 'Diversion', value: '<sip:+13035550155@a>' },
        { name: 'diversion', value: '<sip:+13035550166@a>' },
        { name: 'User-to-User', value: 'x' },
        'odd',
      ],
      custom_headers: [
        { name: 'History-Info', value: '<sip:+13035550177@a>;index=1' },
        { name: 'Privacy', value: 'history' },
        { name: 'X', value: 7 },
      ],
    }),
    {
      type: 'initiated',
      direction: 'outgoing',
      from: '+13035550100',
      to: '+13035550111',
      connectionId: '7',
      forwarding: {
        forwardedFrom: '+13035550122',
        originalTo: '+13035550133',
        redirectingNumber: '+13035550144',
        diversion: ['<sip:+13035550155@a>', '<sip:+13035550166@a>'],
        historyInfo: ['<sip:+13035550177@a>;index=1'],
        privacy: ['history'],
      },
    },
  )
  t.strictSame(await bodyOf('call.bridged', {}), { type: 'bridged' })
  t.strictSame(await bodyOf('call.dtmf.received', { digit: '#' }), { type: 'dtmf', digit: '#' })
  for (const result of ['human', 'machine', 'not_sure'])
    t.strictSame(await bodyOf('call.machine.detection.ended', { result }), { type: 'machine_detection', result })
  t.match(await bodyOf('call.machine.detection.ended', { result: 'silence' }), { result: 'not_sure' })
  t.strictSame(await bodyOf('streaming.started', {}), { type: 'stream_started' })
  t.strictSame(await bodyOf('streaming.stopped', {}), { type: 'stream_stopped' })
  t.strictSame(await bodyOf('streaming.failed', { failure_reason: 'connection_failed' }), {
    type: 'stream_failed',
    reason: 'connection_failed',
  })
  t.match(
    await bodyOf('streaming.failed', { failure_reason: 'Call +1303!' }),
    { reason: 'unspecified' },
    'no text of the carrier',
  )
})

t.test('the cause of a hangup has its SIP code, its reason and the side that hung up', async (t) => {
  const { send, events } = await serve(t)
  for (const [payload, expected] of [
    [
      { hangup_cause: 'normal_clearing', hangup_source: 'caller', sip_hangup_cause: '200' },
      [null, 'normal_clearing', 'caller'],
    ],
    [{ hangup_cause: 'user_busy', hangup_source: 'callee', sip_hangup_cause: '486' }, [486, 'user_busy', 'callee']],
    [
      { hangup_cause: 'call_rejected', hangup_source: 'callee', sip_hangup_cause: '603' },
      [603, 'call_rejected', 'callee'],
    ],
    [
      { hangup_cause: 'call_rejected', hangup_source: 'unknown', sip_hangup_cause: 'unspecified' },
      [603, 'call_rejected', 'unknown'],
    ],
    [{ hangup_cause: 'timeout', hangup_source: 'unknown', sip_hangup_cause: '487' }, [487, 'timeout', 'unknown']],
    [{ hangup_cause: 'timeout' }, [408, 'timeout', 'unknown']],
    [{ hangup_cause: 'no_answer' }, [480, 'no_answer', 'unknown']],
    [{ hangup_cause: 'not_found' }, [404, 'not_found', 'unknown']],
    [{ hangup_cause: 'originator_cancel' }, [487, 'originator_cancel', 'unknown']],
    [{ hangup_cause: 'unspecified', sip_hangup_cause: '482' }, [482, 'unspecified', 'unknown']],
    [{ hangup_cause: 'time_limit', hangup_source: 'somebody' }, [null, 'time_limit', 'unknown']],
    [{ hangup_cause: 'The number +1303', sip_hangup_cause: 603 }, [null, 'unspecified', 'unknown']],
  ] as const) {
    await send(eventOf('call.hangup', payload))
    const [, event] = events.kept.at(-1)!
    const [sipCode, cause, by] = expected
    t.match(event, { type: 'hangup', sipCode, cause, by }, JSON.stringify(payload))
  }
})

t.test('our id of a leg is read only from a client_state in our format', async (t) => {
  const { send, events } = await serve(t)
  for (const [state, expected] of [
    [client_state, legId],
    [undefined, null],
    ['', null],
    [Buffer.from("leg_'; drop table").toString('base64'), null],
    [Buffer.from(`${legId}x`).toString('base64'), null],
    [7, null],
  ]) {
    await send(eventOf('call.answered', { client_state: state }))
    t.equal(events.kept.at(-1)![1].legId, expected, String(state))
  }
})
