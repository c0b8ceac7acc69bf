/**
 * A process dies during a transfer. The carrier runs outside the process, like a real carrier. A second process on the
 * same Postgres receives events, passes commands on to the first process, and ends the legs that the first process has
 * left.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { systemClock } from '../../runtime/timing/clock.ts'
import { type Simulator, startSimulator } from '../../simulator/simulator.ts'
import { eventsOf, hasEnded, type PhoneCallRow } from '../phone/call-rows.ts'
import { settingsOf } from '../phone/outside-carrier.ts'
import { callWhen } from '../phone/real-time-calls.ts'
import { insertOnlyTenantsNumber } from '../phone/stored-number.ts'
import { call } from '../platform/setup.ts'
import { loopbackAgent } from '../session/voice-session.ts'
import { readFixture } from '../speech/fixtures.ts'
import { TestCluster } from '../store/cluster.ts'
import { freePort, until } from './machine.ts'
import { type Running, startParley } from './parley.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const voice = new Int16Array(readFixture('please-try-call-later').slice(44).buffer)
const person = '+15005550006'
/** This phone is asked whether it accepts the call, and says nothing. */
const undecided = '+15005550019'
/** The contract's limit for hanging up a dead process's legs, and 15 s more for a busy machine. */
const cleanMs = 30_000 + 15_000

type World = { owner: Running; other: Running; carrier: Simulator; framesAt: (number: string) => number }

/** Starts two processes and their carrier. The carrier sends its events to the process that survives. */
async function start(t: Test): Promise<World> {
  const frames = new Map<string, number>()
  const carrier = await startSimulator({
    clock: systemClock,
    speak: () => Promise.resolve({ samples: voice, sampleRateHz: 8000 }),
    webhookUrl: 'http://127.0.0.1:9/',
    received(number, samples) {
      if (samples?.some((sample) => Math.abs(sample) > 1000)) frames.set(number, (frames.get(number) ?? 0) + 1)
    },
  })
  t.teardown(() => carrier.close())
  const databaseUrl = await cluster.database('empty')
  const ports = [await freePort(), await freePort()] as const
  const urlOf = (port: number) => `http://127.0.0.1:${port}`
  const node = async (port: number) => {
    const parley = await startParley({
      ...settingsOf(carrier, port),
      DATABASE_URL: databaseUrl,
      PARLEY_MASTER_KEY: 'm'.repeat(32),
      PARLEY_IDEMPOTENCY_LEASE_MS: '3000',
      PARLEY_PUBLIC_URL: urlOf(ports[1]),
      PARLEY_NODE_URL: urlOf(port),
    })
    t.teardown(() => parley.remove())
    return parley
  }
  const [owner, other] = [await node(ports[0]), await node(ports[1])]
  const sql = cluster.sql(t, databaseUrl)
  await insertOnlyTenantsNumber(sql, { e164: '+14155550100' })
  return { owner, other, carrier, framesAt: (number) => frames.get(number) ?? 0 }
}

const attemptOf = (row: PhoneCallRow) =>
  (row['transfers'] as { id: string; status: string; failure_cause: string | null }[]).at(-1)

/**
 * Starts a call in the first process, and returns it once its recipient is being asked. The transfer requests go to the
 * second process.
 */
async function screening({ owner, other, carrier }: World): Promise<{ id: string; attemptId: string }> {
  const started = await call(owner, 'POST', '/v1/sessions/phone', {
    to: person,
    from: '+14155550100',
    ...loopbackAgent,
  })
  if (started.status !== 200) throw new Error(started.text)
  const id = started.json<{ sessionId: string }>().sessionId
  await callWhen(other, id, ({ status }) => status === 'in_progress')
  const wanted = { to: undecided, screeningTimeout: 120, voicemailDetection: { mode: 'disabled' } }
  const answer = await call(other, 'POST', `/v1/calls/${id}/transfers/warm`, wanted)
  if (answer.status !== 201) throw new Error(answer.text)
  const row = await callWhen(other, id, (row) => attemptOf(row)?.status === 'screening')
  if (carrier.callsCount !== 2) throw new Error(`${carrier.callsCount} legs`)
  return { id, attemptId: attemptOf(row)?.id ?? '' }
}

t.test('if a process dies while a recipient screens a transfer, both legs are hung up within 30 s', async (t) => {
  const world = await start(t)
  const { owner, other, carrier } = world
  const { id } = await screening(world)
  await owner.kill()
  const killedMs = performance.now()
  await until('the carrier has no call', () => carrier.callsCount === 0, cleanMs)
  t.comment(`the legs were hung up ${Math.round(performance.now() - killedMs)} ms after the death`)
  const row = await callWhen(other, id, hasEnded)
  t.match(row, { status: 'failed', end_reason: 'worker_lost' })
  t.match(attemptOf(row), { status: 'failed', failure_cause: 'carrier_error' })
  const types = (await eventsOf(other, id)).map(({ event_type }) => event_type)
  t.same(
    types.filter((type) => /^(transfer|call)\.(failed|completed)/.test(type)),
    ['transfer.failed', 'call.failed'],
  )
})

t.test('two connected parties can go on talking after the process of their call has died', async (t) => {
  const world = await start(t)
  const { owner, other, carrier, framesAt } = world
  const { id, attemptId } = await screening(world)
  const answer = await call(other, 'POST', `/v1/calls/${id}/transfers/${attemptId}/complete`, {})
  t.equal(answer.status, 200, 'the command has reached the process of the call')
  await callWhen(other, id, (row) => attemptOf(row)?.status === 'completed')
  await owner.kill()
  const row = await callWhen(other, id, hasEnded)
  t.match(row, { status: 'completed', end_reason: 'transferred' })
  t.match(attemptOf(row), { status: 'completed', failure_cause: null })
  const before = [framesAt(person), framesAt(undecided)] as const
  await sleep(cleanMs)
  t.equal(carrier.callsCount, 2, 'nobody has cut them')
  t.ok(framesAt(person) > before[0], 'the caller receives the recipient')
  t.ok(framesAt(undecided) > before[1], 'the recipient receives the caller')
  const late = await call(other, 'POST', `/v1/calls/${id}/transfers/${attemptId}/complete`, {})
  t.match([late.status, late.json<{ status: string }>().status], [200, 'completed'])
})
