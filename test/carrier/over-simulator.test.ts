/**
 * The carrier adapter works over the carrier's simulator: real commands, signed events and real audio in both
 * directions. Uses a test clock.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { LegEvent, LegRef, LegToDial, LineName, MediaEndpoint } from '../../domain/ports/phone-line.ts'
import { widenInternalHandlers } from '../../generated/internal/handlers.ts'
import { internalSurface } from '../../generated/internal/routes.ts'
import { ExpectedLegs } from '../../handlers/carrier/expected-legs.ts'
import { mountCarrierStreams } from '../../handlers/carrier/streams.ts'
import { receiveCarrierWebhook } from '../../handlers/carrier/webhooks.ts'
import { createTelnyxLine } from '../../providers/telnyx/phone-line.ts'
import { createTelnyxWebhooks } from '../../providers/telnyx/webhooks.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { likenessOf } from '../audio/likeness.ts'
import { TestClock } from '../clock.ts'
import { faults, start } from '../http/harness.ts'
import { RecordingSink } from '../session/media-harness.ts'
import { type FixtureName, readFixture } from '../speech/fixtures.ts'
import { plainLeg } from './carrier-api.ts'
import { legId } from './setup.ts'

const { signal } = new AbortController()
const frameMs = 20
const voiceOf = (name: FixtureName) => new Int16Array(readFixture(name).slice(44).buffer)
/** The phone at the other end speaks with the first voice, and the agent with the second. */
const [farVoice, ownVoice] = [voiceOf('please-try-call-later'), voiceOf('privacy-prompt')]

async function serve(t: Test, rateHz: MediaEndpoint['sampleRateHz']) {
  const clock = new TestClock()
  const events: LegEvent[] = []
  const kept: number[] = []
  const spoken: string[] = []
  const readers = new Map<LineName, ReturnType<typeof createTelnyxWebhooks>>()
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const address = { url: '' }
  const legs = new ExpectedLegs({ ownerId: 'one', addressFor: () => address.url.replace('http', 'ws'), rateHz })
  const received = (_: LineName, event: LegEvent) => {
    events.push(event)
    return Promise.resolve()
  }
  const handlers = receiveCarrierWebhook({ readers, events: { received }, countIgnored: () => {} })
  const surface = {
    name: 'internal',
    operations: internalSurface.operations.filter(({ id }) => id === 'receiveCarrierWebhook'),
    paths: internalSurface.paths.filter(({ pattern }) => pattern.startsWith('/carrier')),
  }
  const mount = {
    surface,
    basePath: '',
    host: null,
    handlers: widenInternalHandlers(handlers as Parameters<typeof widenInternalHandlers>[0]),
    writeFault: faults('internal'),
    corsOrigins: [],
    quota: false,
    health: true,
  }
  const settings = { host: null, headerPrefix: 'Service', corsOrigins: [], log, count: () => {} }
  const server = await start([mount], { sockets: [mountCarrierStreams(settings, { legs, clock })] })
  address.url = server.url
  const webhookUrl = `${server.url}/carrier/simulator/webhooks`
  const simulator = await startSimulator({
    clock,
    speak(text) {
      spoken.push(text)
      return Promise.resolve({ samples: farVoice, sampleRateHz: 8000 })
    },
    webhookUrl,
    received: (_number, samples, hz) => {
      const step = hz / 8000
      for (let at = 0; samples !== null && at < samples.length; at += step) kept.push(samples[at]!)
    },
  })
  readers.set('simulator', createTelnyxWebhooks({ publicKey: simulator.publicKey, clock }))
  const { baseUrl, apiKey } = simulator
  const account = { baseUrl, apiKey, connectionId: 'simulator', webhookUrl }
  const line = createTelnyxLine({ name: 'simulator', ...account, requestMs: 60_000, clock })
  t.teardown(async () => {
    await line.close()
    await simulator.close()
    await server.stop()
  })
  const audio: number[] = []
  const sinks: RecordingSink[] = []
  return {
    clock,
    events,
    simulator,
    line,
    audio,
    sinks,
    /** The sentences that the simulator's phones have spoken. */
    spoken,
    /** The samples that were played to the other phone, at 8 kHz. */
    kept,
    expect: (sampleRateHz: 8000 | 16_000) =>
      legs.expect({
        legId,
        organizationId: 'org_1',
        line: 'simulator',
        sampleRateHz,
        joined(transport) {
          const sink = new RecordingSink(transport)
          sink.onAudio = (samples) => audio.push(...samples)
          sinks.push(sink)
          return sink
        },
        failed: (reason) => t.fail(`the stream did not begin: ${reason}`),
      }),
    types: () => events.map(({ type }) => type),
    /** Moves the clock until the condition holds. In between, local sockets and requests make progress. */
    async pass(holds: () => boolean, limitMs = 60_000): Promise<void> {
      for (let ms = 0; !holds(); ms += frameMs) {
        if (ms > limitMs)
          throw new Error(`not within ${limitMs} ms, after ${events.map(({ type }) => type).join(', ')}`)
        await clock.advance(frameMs)
        await sleep(1)
      }
    },
  }
}

type World = Awaited<ReturnType<typeof serve>>

/** Plays the agent's voice, waits until it was played, and checks the audio at the other phone. */
async function talk(t: Test, world: World, hz: 8000 | 16_000): Promise<void> {
  const { transport, calls } = world.sinks[0]!
  const frame = new Int16Array((hz / 1000) * frameMs)
  for (let at = 0; at + 160 <= ownVoice.length; at += 160) {
    // The voice has 8 kHz, so in a 16 kHz conversation each sample is used twice.
    for (let i = 0; i < frame.length; i++) frame[i] = ownVoice[at + Math.floor((i * 160) / frame.length)]!
    transport.frame(frame)
    await world.clock.advance(frameMs)
    await sleep(1)
  }
  transport.mark('turn:1')
  await world.pass(() => calls.some(([name]) => name === 'played'))
  t.same(
    calls.filter(([name]) => name === 'played'),
    [['played', 'turn:1']],
  )
  const sent = likenessOf(ownVoice.subarray(8000, 16_000), Int16Array.from(world.kept))
  t.ok(sent > 0.9, `the far end was played our voice: ${sent}`)
}

async function requireFarVoice(t: Test, world: World, hz: 8000 | 16_000): Promise<void> {
  const isVoice = (sample: number) => Math.abs(sample) > 2000
  await world.pass(() => world.audio.some(isVoice))
  const end = world.audio.findIndex(isVoice) + farVoice.length * (hz / 8000)
  await world.pass(() => world.audio.length > end)
  const at8k = Int16Array.from(hz === 8000 ? world.audio : world.audio.filter((_, i) => i % 2 === 0))
  const came = likenessOf(farVoice.subarray(8000, 14_000), at8k)
  t.ok(came > 0.95, `the voice of the far end came: ${came}`)
}

for (const hz of [8000, 16_000] as const) {
  t.test(`an outbound call is dialled, carries audio both ways and is hung up, at ${hz} Hz`, async (t) => {
    const world = await serve(t, hz)
    const leg: LegToDial = { ...plainLeg, media: world.expect(hz), detectsMachine: 'carrier' }
    const { carrierLegId } = await world.line.dial(leg, signal)
    t.same(await world.line.dial(leg, signal), { carrierLegId }, 'a repeated command dials nobody')
    await world.pass(() => world.sinks.length === 1)
    t.match(world.events[0], {
      type: 'initiated',
      direction: 'outgoing',
      legId,
      carrierLegId,
      to: leg.to,
      from: leg.from,
    })
    await requireFarVoice(t, world, hz)
    await talk(t, world, hz)
    t.ok(await world.line.isAlive({ legId, carrierLegId }))
    await world.line.hangUp({ legId, carrierLegId })
    await world.pass(() => world.types().includes('hangup'))
    t.match(
      world.events.find(({ type }) => type === 'hangup'),
      { cause: 'normal_clearing', by: 'caller', sipCode: null, legId },
    )
    t.match(
      world.events.find(({ type }) => type === 'machine_detection'),
      { result: 'human' },
    )
    for (const type of ['answered', 'stream_started'] as const) t.ok(world.types().includes(type), type)
    t.notOk(await world.line.isAlive({ legId, carrierLegId }))
    await world.line.hangUp({ legId, carrierLegId })
    await world.pass(() => world.sinks[0]!.calls.at(-1)?.[0] === 'gone')
    t.equal(new Set(world.events.map(({ id }) => id)).size, world.events.length)
  })

  t.test(`an inbound call is announced, answered and carries audio both ways, at ${hz} Hz`, async (t) => {
    const world = await serve(t, hz)
    world.simulator.call({
      from: null,
      to: '+14155550100',
      headers: [{ name: 'Diversion', value: '<sip:+14155550123@example.com>' }],
      forwarding: { forwarded_from: '+14155550199' },
    })
    await world.pass(() => world.events.length === 1)
    const { carrierLegId } = world.events[0]!
    t.match(world.events[0], {
      type: 'initiated',
      direction: 'incoming',
      from: null,
      to: '+14155550100',
      legId: null,
      forwarding: { forwardedFrom: '+14155550199', diversion: ['<sip:+14155550123@example.com>'], historyInfo: [] },
    })
    const ref: LegRef = { legId, carrierLegId }
    await world.line.answer(ref, world.expect(hz))
    await world.pass(() => world.sinks.length === 1 && world.types().includes('answered'))
    t.match(
      world.events.find(({ type }) => type === 'answered'),
      { legId, carrierLegId },
      'from now on events name our leg',
    )
    await talk(t, world, hz)
    await requireFarVoice(t, world, hz)
    await world.line.hangUp(ref)
    await world.pass(() => world.types().includes('hangup'))
  })
}

t.test('a clear command drops queued audio, and the marks in this audio do not count as played', async (t) => {
  const world = await serve(t, 8000)
  await world.line.dial({ ...plainLeg, to: '+15005550011', media: world.expect(8000) }, signal)
  await world.pass(() => world.sinks.length === 1)
  const { transport, calls } = world.sinks[0]!
  for (let at = 0; at + 160 <= ownVoice.length; at += 160) {
    transport.frame(ownVoice.subarray(at, at + 160))
    if (at % 800 === 0) transport.mark(`turn:${at / 8}`)
  }
  await world.pass(() => calls.length >= 5)
  transport.clear()
  await world.pass(() => calls.some(([name]) => name === 'cleared'))
  const index = calls.findIndex(([name]) => name === 'cleared')
  const playedMs = world.kept.findLastIndex((sample) => Math.abs(sample) > 50) / 8
  await world.clock.advance(1000)
  await sleep(50)
  t.same(calls.slice(index + 1), [], 'the marks that the clear returned')
  const [, mark, sinceMs] = calls[index] as [string, string, number]
  t.equal(mark, calls[index - 1]?.[1] as string)
  t.ok(sinceMs >= 0 && sinceMs <= 200, `${sinceMs} ms since ${mark}`)
  t.ok(world.kept.findLastIndex((sample) => Math.abs(sample) > 50) / 8 < playedMs + 200, 'the far end is silent')
})

t.test('keys that we send arrive at the other phone', async (t) => {
  const world = await serve(t, 8000)
  const { carrierLegId } = await world.line.dial({ ...plainLeg, to: '+15005550010', media: world.expect(8000) }, signal)
  await world.pass(() => world.sinks.length === 1)
  await world.line.sendDtmf({ legId, carrierLegId }, '12#')
  await world.pass(() => world.spoken.some((text) => text.startsWith('You pressed')))
  t.match(world.spoken.at(-1), /^You pressed (1|one), (2|two), pound\.$/)
})

t.test('keys that the other phone presses arrive once in the stream and once as an event', async (t) => {
  const world = await serve(t, 8000)
  await world.line.dial({ ...plainLeg, to: '+15005550017', media: world.expect(8000) }, signal)
  await world.pass(() => world.sinks.length === 1)
  for (let at = 0; at + 160 <= ownVoice.length; at += 160)
    world.sinks[0]!.transport.frame(ownVoice.subarray(at, at + 160))
  const { calls } = world.sinks[0]!
  await world.pass(() => calls.length === 1 && world.types().includes('dtmf'))
  t.same(calls, [['dtmf', '1']], 'in the stream')
  t.match(
    world.events.find(({ type }) => type === 'dtmf'),
    { digit: '1', legId },
    'and as an event',
  )
})

t.test('a call that the carrier refuses fails, and a call that is not answered ends with its cause', async (t) => {
  const world = await serve(t, 8000)
  for (const [to, expected] of [
    ['+15005550001', { kind: 'refused' }],
    ['+15005550024', { kind: 'unreachable' }],
  ] as const)
    t.match(
      await world.line.dial({ ...plainLeg, to, commandId: to }, signal).then(
        () => null,
        (error: unknown) => error,
      ),
      { name: 'PhoneLineError', ...expected },
    )
  for (const [to, sipCode, cause] of [
    ['+15005550003', 486, 'user_busy'],
    ['+15005550004', 603, 'call_rejected'],
    ['+15005550005', 482, 'unspecified'],
    ['+15005550002', 487, 'timeout'],
  ] as const) {
    world.events.length = 0
    await world.line.dial({ ...plainLeg, to, commandId: to }, signal)
    await world.pass(() => world.types().includes('hangup'))
    t.match(
      world.events.find(({ type }) => type === 'hangup'),
      { sipCode, cause, legId },
    )
  }
  world.events.length = 0
  world.simulator.call({ from: '+15005550006', to: '+14155550100' })
  await world.pass(() => world.events.length === 1)
  await world.line.reject({ legId, carrierLegId: world.events[0]!.carrierLegId }, 486)
  await world.pass(() => world.types().includes('hangup'))
  t.match(world.events.at(-1), { cause: 'user_busy', sipCode: 486 })
})

t.test("two legs are bridged and receive each other's audio", async (t) => {
  const world = await serve(t, 8000)
  const first = await world.line.dial({ ...plainLeg, commandId: 'one' }, signal)
  const second = await world.line.dial({ ...plainLeg, commandId: 'two', to: '+15005550011' }, signal)
  await world.pass(() => world.types().filter((type) => type === 'answered').length === 2)
  await world.line.bridge({ legId, ...first }, { legId, ...second })
  await world.pass(() => world.types().filter((type) => type === 'bridged').length === 2)
  await world.line.hangUp({ legId, ...first })
  await world.pass(() => world.types().filter((type) => type === 'hangup').length === 2)
})
