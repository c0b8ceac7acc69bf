/** Calls over the HTTP API of the simulated carrier, and the carrier's webhooks. */
import t from 'tap'
import { until } from '../http/harness.ts'
import { agentNumber, far, recordingOf, startWorld, streamFields } from './setup.ts'

t.test("an outbound call is answered, and its events arrive in the carrier's order", async (t) => {
  const world = await startWorld(t)
  const id = await world.dial(far('0006'), { client_state: 'c3RhdGU=', ...streamFields(world) })
  const initiated = await world.event('call.initiated')
  t.match(initiated.payload, { direction: 'outgoing', state: 'bridging', from: agentNumber, to: far('0006') })
  t.equal(initiated.payload['client_state'], 'c3RhdGU=')
  await world.clock.advance(999)
  t.same(world.types(), ['call.initiated'])
  await world.clock.advance(1)
  await world.event('streaming.started')
  t.equal((await world.act(id, 'hangup')).status, 200)
  const hangup = await world.event('call.hangup')
  t.same(world.types(), ['call.initiated', 'call.answered', 'streaming.started', 'streaming.stopped', 'call.hangup'])
  t.match(hangup.payload, { hangup_cause: 'normal_clearing', hangup_source: 'caller', sip_hangup_cause: '200' })
  t.ok(world.events.every(({ payload }) => payload.call_control_id === id))
  const over = await world.ask('GET', `/calls/${id}`)
  t.match(over.body.data, { is_alive: false, call_control_id: id, record_type: 'call' })
  const late = await world.act(id, 'hangup')
  t.equal(late.status, 422)
  t.match(late.body.errors, [{ code: '90018' }])
  t.equal(world.simulator.callsCount, 0)
})

for (const [digits, cause, code] of [
  ['0003', 'user_busy', '486'],
  ['0004', 'call_rejected', '603'],
  ['0005', 'unspecified', '482'],
] as const) {
  t.test(`a call to …${digits} ends with ${code}`, async (t) => {
    const world = await startWorld(t)
    await world.dial(far(digits))
    await world.clock.advance(1000)
    const { payload } = await world.event('call.hangup')
    t.match(payload, { hangup_cause: cause, sip_hangup_cause: code, hangup_source: 'callee' })
    t.same(world.types(), ['call.initiated', 'call.hangup'])
  })
}

t.test('calls to …0001 and …0024 are refused, and create no call', async (t) => {
  const world = await startWorld(t)
  const dial = (to: string) => world.ask('POST', '/calls', { connection_id: 'c', from: agentNumber, to })
  t.equal((await dial(far('0001'))).status, 403)
  t.equal((await dial(far('0024'))).status, 503)
  await world.clock.advance(5000)
  t.equal(world.simulator.callsCount, 0)
  t.same(world.events, [])
})

t.test('the phone …0002 rings until the ringing time is over, and …0007 answers after 20 s', async (t) => {
  const world = await startWorld(t)
  await world.dial(far('0002'), { timeout_secs: 25 })
  await world.dial(far('0007'), { timeout_secs: 25 })
  await world.clock.advance(19_999)
  await until(() => world.events.length === 2)
  await world.clock.advance(1)
  t.equal((await world.event('call.answered')).payload['to'], far('0007'))
  await world.clock.advance(5000)
  const { payload } = await world.event('call.hangup')
  t.match(payload, { to: far('0002'), hangup_cause: 'timeout', sip_hangup_cause: '487' })
})

t.test('a hang-up command cancels a call that rings', async (t) => {
  const world = await startWorld(t)
  const id = await world.dial(far('0002'))
  await world.act(id, 'hangup')
  t.match((await world.event('call.hangup')).payload, { hangup_cause: 'originator_cancel', sip_hangup_cause: '487' })
})

t.test('machine detection reports whether a person or a machine has answered', async (t) => {
  for (const [digits, result] of [
    ['0006', 'human'],
    ['0008', 'machine'],
    ['0025', 'not_sure'],
  ] as const) {
    const world = await startWorld(t)
    await world.dial(far(digits), { answering_machine_detection: 'detect' })
    await world.clock.advance(1000)
    await world.event('call.answered')
    await world.clock.advance(2500)
    t.equal((await world.event('call.machine.detection.ended')).payload['result'], result)
  }
})

t.test('a command that is sent twice takes effect once', async (t) => {
  const world = await startWorld(t)
  const id = await world.dial(far('0010'), { command_id: 'same' })
  t.equal(await world.dial(far('0010'), { command_id: 'same' }), id)
  t.equal(world.simulator.callsCount, 1)
  await world.clock.advance(1000)
  const digits = { digits: '1', command_id: 'digits' }
  t.same((await world.act(id, 'send_dtmf', digits)).body.data, { result: 'ok' })
  t.same((await world.act(id, 'send_dtmf', digits)).body.data, { result: 'ok' })
})

t.test('an incoming call has the number that forwarded it, and may be answered or rejected', async (t) => {
  const world = await startWorld(t)
  const headers = [
    { name: 'Diversion', value: '<sip:+12125550111@example.com>;reason=no-answer' },
    { name: 'History-Info', value: '<sip:+12125550112@example.com>;index=1' },
  ]
  const forwarding = { forwarded_from: '+12125550113' }
  const id = world.simulator.call({ from: far('0006'), to: agentNumber, headers, forwarding })
  const { payload } = await world.event('call.initiated')
  t.match(payload, { direction: 'incoming', state: 'parked', custom_headers: headers, ...forwarding })
  t.equal((await world.act(id, 'answer', streamFields(world))).status, 200)
  await world.event('streaming.started')
  t.same(world.types(), ['call.initiated', 'call.answered', 'streaming.started'])
  const again = await world.act(id, 'answer')
  t.equal(again.status, 422)

  const rejected = world.simulator.call({ from: null, to: agentNumber })
  t.equal((await world.event('call.initiated', 2)).payload['from'], 'anonymous')
  await world.act(rejected, 'reject', { cause: 'USER_BUSY' })
  t.match((await world.event('call.hangup')).payload, { hangup_cause: 'user_busy', sip_hangup_cause: '486' })
})

t.test('a simulated caller gives up if nobody answers', async (t) => {
  const world = await startWorld(t)
  world.simulator.call({ from: far('0006'), to: agentNumber, patienceMs: 8000 })
  await world.clock.advance(8000)
  t.match((await world.event('call.hangup')).payload, { hangup_cause: 'originator_cancel', hangup_source: 'caller' })
})

t.test(
  'the phone …0021 hangs up 1 s after its answer, and …0020 hangs up 2 s after the bridge, with the other leg',
  async (t) => {
    const world = await startWorld(t)
    await world.dial(far('0021'))
    await world.clock.advance(2000)
    t.match((await world.event('call.hangup')).payload, { to: far('0021'), hangup_source: 'callee' })
    const [one, other] = [await world.dial(far('0011')), await world.dial(far('0020'))]
    await world.clock.advance(1000)
    await world.event('call.answered', 3)
    t.equal((await world.act(one, 'bridge', { call_control_id: other })).status, 200)
    await world.event('call.bridged', 2)
    await world.clock.advance(1980)
    t.equal(world.simulator.callsCount, 2)
    await world.clock.advance(40)
    await world.event('call.hangup', 3)
    t.equal(world.simulator.callsCount, 0)
  },
)

t.test("a bridge to the simulator's number …0027 ends at once and sends no webhook", async (t) => {
  const world = await startWorld(t)
  const [stays, leaves] = [await world.dial(far('0026')), await world.dial(far('0027'))]
  await world.clock.advance(1000)
  await world.event('call.answered', 2)
  await world.act(stays, 'bridge', { call_control_id: leaves, park_after_unbridge: 'self' })
  await world.clock.advance(1)
  t.match((await world.event('call.hangup')).payload, { to: far('0027'), hangup_source: 'callee' })
  t.equal(world.simulator.callsCount, 1)
  t.notOk(world.types().includes('call.bridged'))
})

t.test('a leg that was bridged with `park_after_unbridge` stays open when the other leg hangs up', async (t) => {
  const world = await startWorld(t)
  const [one, other] = [await world.dial(far('0011')), await world.dial(far('0020'))]
  await world.clock.advance(1000)
  await world.event('call.answered', 2)
  await world.act(one, 'bridge', { call_control_id: other, park_after_unbridge: 'self' })
  await world.clock.advance(2020)
  t.equal((await world.event('call.hangup')).payload.call_control_id, other)
  t.match((await world.ask('GET', `/calls/${one}`)).body.data, { is_alive: true })
})

t.test('the open calls of a connection are listed in pages', async (t) => {
  const world = await startWorld(t)
  const ids: string[] = []
  for (let at = 0; at < 3; at++) ids.push(await world.dial(far('0020')))
  await world.act(ids[1] as string, 'hangup')
  const list = (query: string) => world.ask('GET', `/connections/c/active_calls?${query}`)
  const idsIn = (body: unknown) =>
    (body as { data: { call_control_id: string }[] }).data.map((call) => call.call_control_id)
  const first = await list('page[limit]=1')
  t.same(idsIn(first.body), [ids[0]])
  const { meta } = first.body as unknown as { meta: { next: string; cursors: { after: string }; total_items: number } }
  t.equal(meta.total_items, 2)
  const second = await list(`page[limit]=1&page[after]=${meta.cursors.after}`)
  t.same(idsIn(second.body), [ids[2]])
  t.match(second.body, { meta: { next: null } })
  t.same(idsIn((await world.ask('GET', '/connections/other/active_calls')).body), [])
  t.equal((await list('page[limit]=251')).status, 422)
})

t.test('a transfer dials the number and connects both remote parties', async (t) => {
  const world = await startWorld(t)
  const caller = world.simulator.call({ from: far('0011'), to: agentNumber })
  await world.act(caller, 'answer')
  await world.act(caller, 'transfer', { to: far('0006'), target_leg_client_state: 'dGFyZ2V0' })
  await world.event('call.initiated', 2)
  await world.clock.advance(1000)
  await world.event('call.bridged', 2)
  const answered = world.events.find(({ payload, type }) => type === 'call.answered' && payload['to'] === far('0006'))
  t.equal(answered?.payload['client_state'], 'dGFyZ2V0')
  await world.act(caller, 'hangup')
  await world.event('call.hangup', 2)
})

t.test('if the caller of a transfer leaves, the dialled number stops ringing', async (t) => {
  const world = await startWorld(t)
  const caller = world.simulator.call({ from: far('0011'), to: agentNumber })
  await world.act(caller, 'answer')
  await world.act(caller, 'transfer', { to: far('0002') })
  await world.act(caller, 'hangup')
  await world.event('call.hangup', 2)
  const target = world.events.find(({ type, payload }) => type === 'call.hangup' && payload['to'] === far('0002'))
  t.match(target?.payload, { hangup_cause: 'originator_cancel', sip_hangup_cause: '487' })
  t.equal(world.simulator.callsCount, 0)
})

t.test('a simulated call ends at its time limit', async (t) => {
  const world = await startWorld(t)
  await world.dial(far('0011'), { time_limit_secs: 30 })
  await world.clock.advance(1000)
  await world.event('call.answered')
  await world.clock.advance(30_000)
  t.match((await world.event('call.hangup')).payload, { hangup_cause: 'time_limit' })
})

t.test('the simulators of two processes pass on commands for legs of the other process', async (t) => {
  const signingSeed = Buffer.alloc(32, 7)
  const [one, other] = [await startWorld(t, { signingSeed }), await startWorld(t, { signingSeed })]
  t.equal(one.simulator.publicKey, other.simulator.publicKey)
  const id = one.simulator.call({ from: far('0011'), to: agentNumber })
  t.equal((await other.act(id, 'answer')).status, 200)
  await one.event('call.answered')
  t.match((await other.ask('GET', `/calls/${id}`)).body.data, { is_alive: true, call_control_id: id })
  const second = await other.dial(far('0011'), { link_to: id })
  t.equal(one.simulator.callsCount, 2)
  await one.clock.advance(1000)
  await one.event('call.answered', 2)
  t.equal((await other.act(second, 'bridge', { call_control_id: id })).status, 200)
  t.equal((await other.act(id, 'dance')).status, 404)
  await one.simulator.close()
  t.match((await other.act(id, 'hangup')).body.errors, [{ code: '90015' }])
})

t.test('the phone …0022 hangs up without a webhook', async (t) => {
  const world = await startWorld(t)
  const id = await world.dial(far('0022'), streamFields(world))
  await world.clock.advance(1000)
  await world.event('streaming.started')
  await world.clock.advance(3000)
  await world.event('streaming.stopped')
  t.match((await world.ask('GET', `/calls/${id}`)).body.data, { is_alive: false })
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.notOk(world.types().includes('call.hangup'))
})

t.test('webhooks of the phone …0023 are sent twice, 5 s late and in another order', async (t) => {
  const world = await startWorld(t)
  const id = await world.dial(far('0023'))
  await world.clock.advance(4999)
  await world.act(id, 'hangup')
  t.same(world.events, [])
  await world.clock.advance(8000)
  await until(() => world.events.length === 6)
  const order = ['call.answered', 'call.initiated', 'call.hangup']
  t.same(
    world.types(),
    order.flatMap((type) => [type, type]),
  )
  t.equal(new Set(world.events.map(({ id }) => id)).size, 3)
})

t.test('a webhook that is not accepted is sent again with the same id', async (t) => {
  const world = await startWorld(t)
  world.answers.push(500, 503)
  await world.dial(far('0002'))
  const { timers } = world.clock
  await until(() => world.clock.timers === timers + 1)
  await world.clock.advance(1000)
  await until(() => world.clock.timers === timers + 1)
  await world.clock.advance(2000)
  await world.event('call.initiated', 3)
  await world.clock.advance(20_000)
  t.same(
    world.events.map(({ id }) => id),
    Array(3).fill(world.events[0]?.id),
  )
})

t.test('keys of a call are passed in both directions', async (t) => {
  const said: string[] = []
  const speak = (text: string) => {
    said.push(text)
    return Promise.resolve(recordingOf('please-try-call-later'))
  }
  const world = await startWorld(t, { speak })
  const id = await world.dial(far('0010'))
  await world.clock.advance(1000)
  await world.event('call.answered')
  await world.act(id, 'send_dtmf', { digits: '12w#' })
  await world.clock.advance(5000)
  t.equal(said.at(-1), 'You pressed one, two, pound.')

  const screened = await world.dial(far('0017'), streamFields(world))
  await world.clock.advance(1000)
  const stream = await world.stream()
  await world.clock.advance(2000)
  stream.sendAudio(recordingOf('tt-weasels').samples)
  await until(() => stream.of('media').length > 90)
  await world.clock.advance(6000)
  t.match((await world.event('call.dtmf.received')).payload, { digit: '1', call_control_id: screened })
  await until(() => stream.of('dtmf').length === 1)
  t.match(stream.of('dtmf'), [{ dtmf: { digit: '1' } }])
})

t.test('a simulated person answers each question with one key, even if the question has a pause', async (t) => {
  const world = await startWorld(t)
  await world.dial(far('0017'), streamFields(world))
  await world.clock.advance(1000)
  const stream = await world.stream()
  const keys = () => world.events.filter(({ type }) => type === 'call.dtmf.received').length
  const ask = async () => {
    const { length } = stream.of('mark')
    stream.sendAudio(recordingOf('tt-weasels').samples.slice(0, 12_000))
    stream.send({ event: 'mark', mark: { name: 'asked' } })
    while (stream.of('mark').length === length) {
      await world.clock.advance(100)
      await new Promise(setImmediate)
    }
    await world.clock.advance(1200)
  }
  await ask()
  await until(() => keys() === 1)
  await ask()
  t.equal(keys(), 1, 'the second part of the question')
  await world.clock.advance(4000)
  await ask()
  await until(() => keys() === 2)
})

t.test('the simulator refuses the same requests as the carrier', async (t) => {
  const world = await startWorld(t)
  const call = { connection_id: 'c', from: agentNumber, to: far('0006') }
  const codeOf = async (body: object) => {
    const { status, body: answer } = await world.ask('POST', '/calls', body)
    return `${status} ${(answer.errors[0] as { code: string }).code}`
  }
  t.equal(await codeOf({ ...call, from: undefined }), '422 10004')
  t.equal(await codeOf({ ...call, to: '500 555 0006' }), '422 10016')
  t.equal(await codeOf({ ...call, stream_url: 'ws://192.0.2.1/' }), '422 10003')
  t.equal(await codeOf({ ...call, webhook_url: 'http://127.0.0.1.example.com/' }), '422 10003')
  t.equal(await codeOf({ ...call, stream_track: 'sideways', stream_url: world.streamUrl }), '422 10032')
  t.equal((await world.ask('POST', '/calls', call, 'wrong')).status, 401)
  t.equal((await world.ask('GET', '/calls/unknown')).status, 422)
  t.equal((await world.ask('GET', '/nothing')).status, 404)
  t.equal((await world.ask('POST', '/calls', { ...call, pad: 'x'.repeat(300_000) })).status, 413)
  const notJson = await fetch(`${world.simulator.baseUrl}/calls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.simulator.apiKey}` },
    body: '{',
  })
  t.equal(notJson.status, 400)
  t.equal(world.simulator.callsCount, 0)
})
