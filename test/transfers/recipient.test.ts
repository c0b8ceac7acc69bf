/** Tests a recipient's leg while the database is unreachable, and after a late or failed command to the phone line. */
import t from 'tap'
import { Recipient } from '../../domain/transfers/recipient.ts'
import { settled, TestClock } from '../clock.ts'

const wanted = { ringingTimeoutS: 30, timeLimitS: 600, region: null, detectsMachine: null, headers: {} }

function newRecipient(dial: () => Promise<{ carrierLegId: string }>) {
  const clock = new TestClock()
  const world = {
    clock,
    commands: [] as string[],
    events: [] as string[],
    names: [] as string[],
    isAway: false,
    failsHangUps: false,
    recorded: [] as unknown[],
  }
  const line = {
    name: 'simulator' as const,
    dial,
    hangUp: () => {
      world.commands.push('hangUp')
      return world.failsHangUps ? Promise.reject(new Error('busy')) : Promise.resolve()
    },
    answer: () => Promise.resolve(),
    reject: () => Promise.resolve(),
    bridge: () => Promise.resolve(),
    sendDtmf: () => Promise.resolve(),
    isAlive: () => Promise.resolve(true),
    find: () => Promise.resolve(null),
  }
  const stored = () => Promise.resolve()
  const recipient = new Recipient(
    {
      line,
      media: { expect: () => ({ url: '', token: '', sampleRateHz: 8000 }), forget() {} },
      legs: {
        insert: stored,
        answered: stored,
        ended: stored,
        dialed(_leg, name) {
          if (world.isAway) return Promise.reject(new Error('the database is away'))
          return Promise.resolve(void world.names.push(name))
        },
      },
      clock,
      log: { info() {}, warn() {}, error() {} },
      record: { line: (...line) => void world.recorded.push(line) },
      over() {},
    },
    {
      ...{ organizationId: 'org_1', test: true, id: 'leg_1', callId: 'call_1', party: 'recipient' },
      ...{ direction: 'outbound', line: 'simulator', carrierLegId: null, createdAtMs: 0 },
      ...{ answeredAtMs: null, endedAtMs: null, microUsdPerMinute: null },
    },
    {
      happened: (event) => void world.events.push(event),
      dialed: () => void world.events.push('dialed'),
      notDialed: () => {},
      judged: () => {},
    },
  )
  return Object.assign(world, {
    recipient,
    dial: () => recipient.dial({ from: '+15005550100', to: '+15005550017', ...wanted }, false),
  })
}

t.test("the carrier's id of a leg is stored as soon as the database is reachable again", async (t) => {
  const world = newRecipient(() => Promise.resolve({ carrierLegId: 'v3:leg' }))
  world.isAway = true
  await world.dial()
  await settled()
  t.same([world.events, world.commands], [['dialed'], []], 'the leg is not hung up')
  world.isAway = false
  await world.clock.advance(5_000)
  t.same(world.names, ['v3:leg'], 'once')
  t.same([world.events, world.commands], [['dialed'], []])
})

t.test("a leg counts as dialled after its first event, even if the carrier's answer is late or lost", async (t) => {
  for (const answers of [true, false]) {
    let settle = () => {}
    const answer = new Promise<{ carrierLegId: string }>((resolve, reject) => {
      settle = () => (answers ? resolve({ carrierLegId: 'v3:leg' }) : reject(new Error('cut')))
    })
    const world = newRecipient(() => answer)
    const dialling = world.dial()
    await settled()
    const event = { carrierLegId: 'v3:leg', legId: 'leg_1', occurredAtMs: 0 }
    world.recipient.event({ id: 'event_1', type: 'answered', ...event })
    await world.clock.advance(8_000)
    settle()
    await dialling
    t.same(world.events, ['dialed', 'answered'])
    t.same(world.commands, [], 'nobody is hung up')
  }
})

t.test('a leg fails if neither an answer nor an event has its carrier id within 5 s', async (t) => {
  const world = newRecipient(() => new Promise(() => {}))
  void world.dial()
  await settled()
  await world.clock.advance(5_000)
  t.same(world.events, ['lineFailed', 'dialed'])
  world.recipient.event({ id: 'event_1', type: 'ringing', carrierLegId: 'v3:leg', legId: 'leg_1', occurredAtMs: 0 })
  t.same(world.commands, ['hangUp'], 'the line has dialled it all the same')
})

t.test('after the end of a leg, a failed hang-up is not repeated', async (t) => {
  for (const isEnded of [false, true]) {
    const world = newRecipient(() => Promise.resolve({ carrierLegId: 'v3:leg' }))
    world.failsHangUps = true
    await world.dial()
    world.recipient.hangUp()
    const event = { id: 'event_1', carrierLegId: 'v3:leg', legId: 'leg_1', occurredAtMs: 0 }
    if (isEnded)
      world.recipient.event({ ...event, type: 'hangup', sipCode: null, cause: 'normal_clearing', by: 'unknown' })
    for (let tries = 1; tries < 15; tries++) await world.clock.advance(2_000)
    world.commands.length = 0
    await world.recipient.look()
    t.same(world.commands, isEnded ? [] : ['hangUp'])
  }
})

t.test("the events of the recipient's leg have the fields of the contract", async (t) => {
  const world = newRecipient(() => Promise.resolve({ carrierLegId: 'v3:leg' }))
  await world.dial()
  const head = { id: 'event_1', occurredAtMs: 0, carrierLegId: 'v3:leg', legId: 'leg_1' }
  const forwarding = {
    ...{ forwardedFrom: null, originalTo: null, redirectingNumber: null },
    ...{ diversion: [], historyInfo: [], privacy: [] },
  }
  const to = '+15005550017'
  world.recipient.event({ ...head, type: 'initiated', direction: 'outgoing', from: null, to, forwarding })
  world.recipient.event({ ...head, type: 'stream_failed', reason: 'closed' })
  t.same(world.recorded, [
    ['carrier.initiated', { leg: 'recipient', direction: 'outbound' }],
    ['carrier.stream_failed', { leg: 'recipient', reason: 'closed' }],
  ])
})
