/** Tests hostile senders of carrier events: senders without the key, and signed events with hostile content. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { postEvent, receivedEvent } from '../rmsg/provider-events.ts'
import { until } from './machine.ts'
import { eventOf } from './own-carrier.ts'
import { startWithCarrier } from './server-with-carrier.ts'

const { carrier, parley, hostile, sql, placed } = await startWithCarrier()
const addresses = [
  '/carrier/carrier/webhooks',
  '/carrier/simulator/webhooks',
  '/carrier/carrier/messages',
  '/carrier/simulator/messages',
]
const json = { 'content-type': 'application/json' }
const nowS = () => Math.floor(Date.now() / 1000)

/** The codes of a connection that the server closes because the client has sent nothing for some time. */
const closedCodes = ['EPIPE', 'ECONNRESET', 'UND_ERR_SOCKET']

async function send(path: string, body: string | Uint8Array, headers: Record<string, string>): Promise<number> {
  const answer = await fetch(parley.url + path, { method: 'POST', headers, body })
  await answer.arrayBuffer()
  return answer.status
}

const [path = ''] = addresses
const signed = (body: string, timestampS?: number) => ({ ...json, ...carrier.signed(body, timestampS) })

const rowOf = async (id: string) => {
  const [row] = await sql<{ status: string; over: boolean; events: number }[]>`
    select status, ended_at is not null as over,
      (select count(*)::int from call_events e where e.call_id = c.id) as events from calls c where id = ${id}`
  return row
}

hostile("events without a signature, with another key's signature, or with an old signature are refused", async (t) => {
  const { id, leg } = await placed()
  const body = eventOf(leg, 'call.hangup', { hangup_cause: 'user_busy' })
  const { privateKey } = generateKeyPairSync('ed25519')
  const forged = sign(null, Buffer.from(`${nowS()}|${body}`), privateKey).toString('base64')
  const good = carrier.signed(body)
  const signature = good['telnyx-signature-ed25519'] ?? ''
  for (const headers of [
    {},
    { 'telnyx-timestamp': String(nowS()) },
    { 'telnyx-timestamp': String(nowS()), 'telnyx-signature-ed25519': forged },
    { 'telnyx-timestamp': String(nowS()), 'telnyx-signature-ed25519': Buffer.alloc(64).toString('base64') },
    { 'telnyx-timestamp': String(Number(good['telnyx-timestamp']) - 1), 'telnyx-signature-ed25519': signature },
    { 'telnyx-timestamp': ` ${good['telnyx-timestamp']}.0`, 'telnyx-signature-ed25519': signature },
    { 'telnyx-timestamp': '9'.repeat(4000), 'telnyx-signature-ed25519': signature },
    { ...good, 'telnyx-signature-ed25519': `${signature}${'A'.repeat(4000)}` },
    carrier.signed(body, nowS() + 400),
    carrier.signed(body, nowS() - 400),
  ])
    t.equal(await send(path, body, { ...json, ...headers }), 401, JSON.stringify(headers).slice(0, 60))
  t.equal(await send(path, `${body} `, signed(body)), 401, 'one byte more')
  t.equal(await send('/carrier/simulator/webhooks', body, signed(body)), 401, 'the key of another line')
  t.equal(await send('/carrier/trunk/webhooks', body, signed(body)), 400)
  t.equal((await rowOf(id))?.over, false, 'none had an effect')
  await carrier.hangUp(leg, parley.url)
  await until('the call has ended', async () => (await rowOf(id))?.over === true)
})

hostile('an event that is sent a thousand times, also with new signatures, takes effect once', async (t) => {
  const { id, leg } = await placed()
  const body = eventOf(leg, 'call.bridged')
  const statuses = new Set<number>()
  for (let round = 0; round < 20; round++) {
    const sending = Array.from({ length: 50 }, () => send(path, body, signed(body, nowS() - round)))
    for (const status of await Promise.all(sending)) statuses.add(status)
  }
  t.same([...statuses], [200])
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from call_events where call_id = ${id} and type = 'carrier.bridged'`
  t.equal(row?.count, 1)
  await carrier.hangUp(leg, parley.url)
})

hostile('signed events for unknown legs are accepted and dropped', async (t) => {
  const legOf = (legId: string) => ({
    carrierLegId: `v3:${randomUUID()}`,
    clientState: Buffer.from(legId).toString('base64'),
    streamPath: '',
    isAlive: false,
  })
  const statuses = new Set<number>()
  for (let round = 0; round < 40; round++) {
    const bodies = Array.from({ length: 50 }, () =>
      eventOf(legOf(`leg_${randomUUID()}`), 'call.hangup', { hangup_cause: 'x'.repeat(5000) }),
    )
    for (const status of await Promise.all(bodies.map((body) => send(path, body, signed(body))))) statuses.add(status)
  }
  for (const state of ["leg_' or 1=1 --", '__proto__', 'x'.repeat(100_000)]) {
    const body = eventOf(legOf(state), 'call.answered', { call_control_id: state })
    statuses.add(await send(path, body, signed(body)))
  }
  t.same([...statuses], [200])
})

hostile('signed bodies that are no valid events cause no internal error', async (t) => {
  for (const [body, status] of [
    ['', 400],
    ['null', 400],
    ['[]', 400],
    ['{}', 200],
    ['\0', 400],
    [`{"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400],
    ['{"data":{"__proto__":{"event_type":"call.hangup"}}}', 400],
    ['{"data":7}', 200],
    ['{"data":{"id":7,"event_type":"call.hangup","payload":{"call_control_id":"x"}}}', null],
    ['{"data":{"id":"x","event_type":"constructor","occurred_at":"now","payload":{"call_control_id":"x"}}}', null],
    [
      `{"data":{"id":"${'x'.repeat(100_000)}","event_type":"call.hangup","occurred_at":"+275760-09-13T00:00:00.000Z","payload":{"call_control_id":"${'y'.repeat(100_000)}"}}}`,
      null,
    ],
    [
      '{"data":{"id":"\\u0000","event_type":"call.hangup","occurred_at":"2026-11-24T00:00:00Z","payload":{"call_control_id":"\\u0000"}}}',
      null,
    ],
    [
      '{"data":{"id":"i","event_type":"call.initiated","occurred_at":"2026-11-24T00:00:00Z","payload":{"call_control_id":"\\ud800","direction":"incoming","from":"\\u0000","to":"+14155550100"}}}',
      null,
    ],
    [
      '{"data":{"id":"j","event_type":"call.initiated","occurred_at":"2026-11-24T00:00:00Z","payload":{"call_control_id":"j","direction":"incoming","from":"\\u0000","to":"\\u0000"}}}',
      null,
    ],
    [
      '{"data":{"id":"l","event_type":"call.initiated","occurred_at":"-271821-04-20T00:00:00.000Z","payload":{"call_control_id":"l","direction":"incoming","from":"+1","to":"+14155550100"}}}',
      null,
    ],
    [
      '{"data":{"id":"k","event_type":"call.initiated","occurred_at":"+275760-09-13T00:00:00.000Z","payload":{"call_control_id":"k","direction":"incoming","from":"+1","to":"+14155550100"}}}',
      null,
    ],
  ] as const) {
    const answer = await send(path, body, signed(body))
    if (status !== null) t.equal(answer, status, body.slice(0, 60))
    else t.ok(answer < 500, `${answer} for ${body.slice(0, 60)}`)
  }
  const body = eventOf({ carrierLegId: 'x', clientState: '', streamPath: '', isAlive: false }, 'call.answered')
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    '',
  ])
    t.equal(await send(path, body, { ...signed(body), 'content-type': type }), 415, type)
})

hostile('very large events without a valid signature are refused', async (t) => {
  const text = `{"data":{"id":"x","event_type":"x","payload":{"a":"${'x'.repeat(4_000_000)}"}}}`
  const values = `{"data":{"id":"x","event_type":"x","payload":{"a":[${'1,'.repeat(2_000_000)}1]}}}`
  const statuses = new Map<string, number>()
  for (const body of [text, values, text]) {
    const sending = addresses.flatMap((address) =>
      Array.from({ length: 12 }, () =>
        send(address, body, { ...json, 'telnyx-timestamp': String(nowS()), 'telnyx-signature-ed25519': 'A' }).catch(
          ({ cause }: { cause?: { code?: string } }) => cause?.code,
        ),
      ),
    )
    for (const status of await Promise.all(sending))
      statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1)
  }
  t.comment(Object.fromEntries(statuses))
  t.ok((statuses.get('413') ?? 0) > 72, 'more than half')
  t.same(
    [...statuses.keys()].filter((status) => status !== '413' && !closedCodes.includes(status)),
    [],
  )
})

hostile('signed message events with hostile field values are accepted and cause no error', async (t) => {
  const texts = ['\\u0000', '\\ud800', 'x'.repeat(100_000), "' or true --", '__proto__']
  for (const text of texts) {
    const id = `evt_${randomUUID()}`
    const event = receivedEvent('IDENTITY', 'hello').body.toString()
    for (const body of [
      event.replace('IDENTITY', text),
      event.replace(/(remote_number": ")[^"]*/, `$1${text}`),
      event.replace(/(conversation_id": ")[^"]*/, `$1${text}`),
      event.replace(/(timestamp": ")[^"]*/, '$1-271821-04-20T00:00:00.000Z'),
      event.replace(/(timestamp": ")[^"]*/, '$1+275760-09-13T00:00:00.000Z'),
      event.replace('rmsg.received', 'rmsg.sent').replace(/("message": { "id": ")[^"]*/, `$1${text}`),
    ])
      t.equal(await postEvent(parley.url, { id, body: Buffer.from(body) }), 200, body.slice(0, 60))
  }
})
