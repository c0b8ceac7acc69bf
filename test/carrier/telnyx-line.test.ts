/** The carrier adapter sends commands, and interprets the carrier's responses. */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { PhoneLineError } from '../../domain/ports/phone-line.ts'
import { clientStateOf } from '../../providers/telnyx/client-state.ts'
import { createTelnyxLine } from '../../providers/telnyx/phone-line.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { until } from '../http/harness.ts'
import {
  carrierLegId,
  dialled,
  done,
  everyCommand,
  media,
  plainLeg,
  ref,
  refusedWith,
  serveCarrier,
} from './carrier-api.ts'
import { legId } from './setup.ts'

const { signal } = new AbortController()

t.test("every command reaches the carrier in the carrier's format", async (t) => {
  const carrier = await serveCarrier(t)
  await everyCommand(carrier)
  const leg = '/v2/calls/v3%3AMdI91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg%3D%3D'
  const stream = {
    stream_url: 'wss://voice.example.com/carrier/media/leg_1?token=one.secret',
    stream_track: 'inbound_track',
    stream_bidirectional_mode: 'rtp',
  }
  const mulaw = { ...stream, stream_codec: 'PCMU', stream_bidirectional_codec: 'PCMU' }
  const l16 = { ...stream, stream_codec: 'L16', stream_bidirectional_codec: 'L16' }
  const webhook = { webhook_url: 'https://voice.example.com/carrier/carrier/webhooks' }
  const client_state = Buffer.from(legId).toString('base64')
  const dial = {
    ...webhook,
    connection_id: '7267',
    from: '+18005550101',
    to: '+15005550006',
    timeout_secs: 30,
    time_limit_secs: 3720,
    client_state,
    command_id: 'command_1',
  }
  t.ok(carrier.commands.every(({ authorization }) => authorization === 'Bearer KEY1'))
  t.strictSame(
    carrier.commands.map(({ method, path, body }) => [method, path, body]),
    [
      ['POST', '/v2/calls', dial],
      [
        'POST',
        '/v2/calls',
        {
          ...dial,
          ...mulaw,
          timeout_secs: 5,
          answering_machine_detection: 'detect',
          sip_region: 'Middle East',
          stream_bidirectional_sampling_rate: 8000,
        },
      ],
      [
        'POST',
        '/v2/calls',
        {
          ...dial,
          ...l16,
          stream_bidirectional_sampling_rate: 16_000,
          custom_headers: [{ name: 'X-Order', value: '7' }],
          sip_headers: [{ name: 'User-to-User', value: 'abc' }],
        },
      ],
      ['GET', leg, {}],
      ['POST', `${leg}/actions/answer`, { ...webhook, ...mulaw, client_state, command_id: `${legId}-answer` }],
      ['POST', `${leg}/actions/answer`, { ...webhook, client_state, command_id: `${legId}-answer` }],
      [
        'POST',
        `${leg}/actions/streaming_start`,
        { ...l16, stream_bidirectional_sampling_rate: 16_000, command_id: `${legId}-stream` },
      ],
      ['POST', `${leg}/actions/reject`, { cause: 'USER_BUSY', command_id: `${legId}-reject` }],
      ['POST', `${leg}/actions/hangup`, { command_id: `${legId}-hangup` }],
      ['POST', `${leg}/actions/bridge`, { call_control_id: 'v3:other', park_after_unbridge: 'self' }],
      ['POST', `${leg}/actions/send_dtmf`, { digits: '1w#' }],
      ['GET', '/v2/connections/7267/active_calls?page%5Blimit%5D=100', {}],
    ],
  )
})

t.test("the carrier's answers show whether a leg was dialled, is alive or is gone", async (t) => {
  const carrier = await serveCarrier(t)
  carrier.answers(dialled)
  t.same(await carrier.line.dial(plainLeg, signal), { carrierLegId })
  t.equal(await carrier.line.isAlive(ref), true)
  carrier.answers({ status: 200, body: { data: { is_alive: false } } })
  t.equal(await carrier.line.isAlive(ref), false)
  for (const [status, code] of [
    [404, '10005'],
    [422, '90018'],
  ] as const) {
    carrier.answers(refusedWith(status, code))
    t.equal(await carrier.line.isAlive(ref), false, `${status}: no such leg`)
    await carrier.line.hangUp(ref)
    t.match(await failureOf(carrier.line.answer(ref, media)), { kind: 'refused', isGone: true })
  }
  carrier.answers(refusedWith(422, '10015'))
  t.match(
    await failureOf(carrier.line.hangUp(ref)),
    { kind: 'refused', isGone: false },
    'another 422 is no end of the leg',
  )
})

t.test("a leg is found by our id among the carrier's open calls, on any page of the list", async (t) => {
  const carrier = await serveCarrier(t)
  const call = (id: string, of: string) => ({
    call_control_id: id,
    client_state: clientStateOf(of),
    record_type: 'call',
  })
  const path = '/v2/connections/7267/active_calls'
  const next = `${path}?page[after]=two`
  const pages = [
    { data: [call('v3:1', 'leg_other')], meta: { cursors: { after: 'two', before: 'one' }, next, previous: null } },
    { data: [call(carrierLegId, legId)], meta: { cursors: { after: 'three', before: 'two' }, next: null } },
  ]
  carrier.answers((response) => response.end(JSON.stringify(pages.shift())))
  t.same(await carrier.line.find(legId), ref)
  t.same(
    carrier.commands.map((command) => decodeURIComponent(command.path)),
    [`${path}?page[limit]=100`, `${path}?page[limit]=100&page[after]=two`],
  )
  carrier.answers({ status: 200, body: { data: [call('v3:1', 'leg_other')], meta: { next: null } } })
  t.equal(await carrier.line.find(legId), null)
  carrier.answers(refusedWith(503, '10007'))
  t.match(await failureOf(carrier.line.find(legId)), { kind: 'unreachable' })
})

t.test('each refusal by the carrier is classified by kind, and no text of the carrier is shown', async (t) => {
  const carrier = await serveCarrier(t)
  for (const [status, kind] of [
    [400, 'refused'],
    [401, 'refused'],
    [403, 'refused'],
    [422, 'refused'],
    [429, 'refused'],
    [500, 'unreachable'],
    [503, 'unreachable'],
  ] as const) {
    carrier.answers(refusedWith(status, '10015'))
    const error = await failureOf(carrier.line.dial(plainLeg, signal))
    t.equal(error.kind, kind, String(status))
    const shown = `${error.message} ${String(error.cause)} ${error.stack}`
    t.match(shown, `status ${status}, codes 10015`)
    t.notMatch(shown, /5005550006|8005550101|KEY1|The number/)
  }
  carrier.answers({ status: 200, body: { data: {} } })
  t.match(await failureOf(carrier.line.dial(plainLeg, signal)), { kind: 'refused' }, 'no id')
  carrier.answers((response) => void response.end('<html>'))
  t.match(
    await failureOf(carrier.line.dial(plainLeg, signal)),
    { kind: 'timeout' },
    'no JSON: the leg may have been dialled',
  )
  carrier.answers((response) => void response.destroy())
  t.match(await failureOf(carrier.line.dial(plainLeg, signal)), { kind: 'timeout' }, 'cut')
})

t.test('dial fails as unreachable if the carrier cannot be reached', async (t) => {
  const line = createTelnyxLine({
    name: 'carrier',
    baseUrl: 'http://127.0.0.1:9/v2',
    apiKey: 'KEY1',
    connectionId: '7',
    webhookUrl: 'x',
    requestMs: 5000,
    clock: systemClock,
  })
  t.teardown(() => line.close())
  t.match(await failureOf(line.dial(plainLeg, signal)), { kind: 'unreachable' })
})

t.test('if the carrier answers a dial command after the caller has left, the leg is hung up', async (t) => {
  const cancel = new AbortController()
  const slow = await serveCarrier(t)
  slow.answers((response) => {
    setTimeout(
      () => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(dialledBody)),
      50,
    )
    slow.answers(done)
    cancel.abort(new Error('the caller has left'))
  })
  t.match(await failureOf(slow.line.dial(plainLeg, cancel.signal)), { kind: 'timeout' })
  await until(() => slow.commands.length === 2)
  t.match(slow.commands[1]?.path, /\/v3%3AMdI.*\/actions\/hangup$/)
  t.match(await failureOf(slow.line.dial(plainLeg, cancel.signal)), { kind: 'unreachable' }, 'cancelled before')
  await sleep(20)
  t.equal(slow.commands.length, 2, 'nothing was sent')
})

t.test('if the carrier answers a dial command late, the leg stays as long as its call waits for it', async (t) => {
  const carrier = await serveCarrier(t, { requestMs: 20 })
  carrier.answers((response) => {
    setTimeout(
      () => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(dialledBody)),
      100,
    )
    carrier.answers(done)
  })
  t.match(await carrier.line.dial(plainLeg, signal), { carrierLegId: /^v3:MdI/ })
  await sleep(20)
  t.equal(carrier.commands.length, 1)
})

const { body: dialledBody } = dialled as { body: object }

async function failureOf(work: Promise<unknown>): Promise<PhoneLineError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error instanceof PhoneLineError) return error
  throw new Error('it did not fail as a line does', { cause: error })
}
