/**
 * Tests calls whose caller or recipient hangs up while the carrier connects a warm transfer. The carrier runs outside
 * the server, like a real carrier, so the test can count its legs. It never announces the connection with …0026 and
 * …0027, so the transfer stays in the state `bridging` for the contract's full time.
 */
import t from 'tap'
import { startSimulator } from '../../simulator/simulator.ts'
import { TestClock } from '../clock.ts'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { freePort } from '../process/machine.ts'
import { loopbackAgent } from '../session/voice-session.ts'
import { readFixture } from '../speech/fixtures.ts'
import { wholeProcess } from '../time/quiet.ts'
import { serverInTime } from '../time/server.ts'
import { eventsOf, hasEnded, type PhoneCallRow } from './call-rows.ts'
import { settingsOf } from './outside-carrier.ts'
import { callWhen } from './phones.ts'
import { insertOnlyTenantsNumber } from './stored-number.ts'

const from = '+14155550100'
/** This phone says nothing to the agent, and talks once it is connected to the other person. */
const stays = '+15005550026'
/** This phone says nothing to the agent, and hangs up once it is connected to the other person. */
const leaves = '+15005550027'
/** This phone says nothing to the agent. Unlike for the other two, the carrier announces when it is connected. */
const connected = '+15005550019'

const voice = new Int16Array(readFixture('please-try-call-later').slice(44).buffer)
const port = await freePort()
const clock = new TestClock({ startMs: Date.now(), quiet: wholeProcess })
const carrier = await startSimulator({
  clock,
  speak: () => Promise.resolve({ samples: voice, sampleRateHz: 8000 }),
  webhookUrl: 'http://127.0.0.1:9/',
})
t.teardown(() => carrier.close())
const parley = await serverInTime(t, settingsOf(carrier, port), clock)
const sql = openDatabase(parley)
t.teardown(() => sql.end())
await insertOnlyTenantsNumber(sql, { e164: from })

type Attempt = { id: string; status: string; failure_cause: string | null }
const attemptsOf = (row: PhoneCallRow) => row['transfers'] as Attempt[]
const causesOf = (row: PhoneCallRow) => attemptsOf(row).map(({ status, failure_cause }) => failure_cause ?? status)
const isScreened = (count: number) => (row: PhoneCallRow) =>
  attemptsOf(row).length === count && attemptsOf(row).at(-1)?.status === 'screening'

/**
 * Starts a call and transfers its person to the destinations. Returns the call once the first recipient is being asked.
 */
async function asking(to: string, destinations: readonly string[]): Promise<PhoneCallRow> {
  const started = await call(parley, 'POST', '/v1/sessions/phone', { to, from, ...loopbackAgent })
  if (started.status !== 200) throw new Error(started.text)
  const id = started.json<{ sessionId: string }>().sessionId
  await callWhen(parley, id, ({ status }) => status === 'in_progress')
  const asked = await call(parley, 'POST', `/v1/calls/${id}/transfers/warm`, {
    destinations: destinations.map((to) => ({ to })),
    screeningTimeout: 120,
    voicemailDetection: { mode: 'disabled' },
    fallback: { message: 'You are back with me.' },
  })
  if (asked.status !== 201) throw new Error(asked.text)
  return callWhen(parley, id, isScreened(1))
}

/** Accepts the transfer by an API request, in place of the recipient called last. */
async function accept(row: PhoneCallRow): Promise<void> {
  const { id } = attemptsOf(row).at(-1) as Attempt
  const answer = await call(parley, 'POST', `/v1/calls/${row.id}/transfers/${id}/complete`, {})
  if (answer.status !== 200) throw new Error(answer.text)
}

async function transferEvents(id: string): Promise<string[]> {
  const types = (await eventsOf(parley, id)).flatMap(({ event_type: type }) =>
    /^(transfer|call)\./.test(type) ? [type] : [],
  )
  return types.slice(types.indexOf('call.transferring'))
}

const end = (id: string) => call(parley, 'POST', `/v1/calls/${id}/end`)
const noLegs = () => clock.until('the end of all legs at the carrier', () => carrier.callsCount === 0)

t.test("if the caller leaves during bridging, the recipient's leg ends, and no other phone is called", async (t) => {
  const row = await asking(leaves, [stays, connected])
  t.equal(carrier.callsCount, 2)
  await accept(row)
  const ended = await callWhen(parley, row.id, hasEnded)
  t.match(ended, { status: 'completed', end_reason: 'user_hangup' })
  t.same(causesOf(ended), ['caller_hung_up'])
  const failed = (await eventsOf(parley, row.id)).find(({ event_type }) => event_type === 'transfer.failed')
  t.match(failed, { failure_cause: 'caller_hung_up', payload: { next_transfer_id: null, fallback: null } })
  t.same(await transferEvents(row.id), [
    ...['call.transferring', 'transfer.requested', 'transfer.screening', 'transfer.bridging'],
    ...['transfer.failed', 'call.completed'],
  ])
  await noLegs()
})

t.test("if an API client ends a call during bridging, the recipient's leg ends too", async (t) => {
  const row = await asking(stays, [stays, connected])
  await accept(row)
  t.equal((await end(row.id)).status, 200)
  const ended = await callWhen(parley, row.id, hasEnded)
  t.match(ended, { status: 'completed', end_reason: 'api_ended' })
  t.same(causesOf(ended), ['caller_hung_up'])
  t.same((await transferEvents(row.id)).slice(-3), ['transfer.bridging', 'transfer.failed', 'call.completed'])
  await noLegs()
})

t.test('a recipient that hangs up during bridging has declined, and the caller returns to the agent', async (t) => {
  const row = await asking(stays, [leaves])
  await accept(row)
  const isBack = ({ status, transcript }: PhoneCallRow) =>
    status === 'in_progress' && transcript.entries.some(({ text }) => text === 'You are back with me.')
  const back = await callWhen(parley, row.id, isBack)
  t.same(causesOf(back), ['declined'])
  await clock.until('the end of the leg of the recipient', () => carrier.callsCount === 1)
  await end(row.id)
  t.match(await callWhen(parley, row.id, hasEnded), { status: 'completed', end_reason: 'api_ended' })
  t.same(await transferEvents(row.id), [
    ...['call.transferring', 'transfer.requested', 'transfer.screening', 'transfer.bridging'],
    ...['transfer.failed', 'call.in_progress', 'call.completed'],
  ])
  await noLegs()
})

t.test('if the first recipient leaves during bridging, the next recipient is called', async (t) => {
  const row = await asking(stays, [leaves, connected])
  await accept(row)
  await accept(await callWhen(parley, row.id, isScreened(2)))
  const done = await callWhen(parley, row.id, ({ status }) => status === 'in_progress')
  t.same(causesOf(done), ['declined', 'completed'])
  t.equal(carrier.callsCount, 2, 'the two talk')
  await end(row.id)
  t.match(await callWhen(parley, row.id, hasEnded), { status: 'completed' })
  await noLegs()
})

t.test('if the carrier never reports the bridge, the caller returns to the agent', async (t) => {
  const row = await asking(stays, [stays])
  await accept(row)
  const back = await callWhen(parley, row.id, ({ status }) => status === 'in_progress')
  t.same(causesOf(back), ['carrier_error'])
  await clock.until('the end of the leg of the recipient', () => carrier.callsCount === 1)
  await end(row.id)
  await callWhen(parley, row.id, hasEnded)
  await noLegs()
})
