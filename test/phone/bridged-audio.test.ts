/**
 * Two people whose legs the carrier connects receive each other's audio. The carrier and the phones run in this test,
 * outside the server.
 */
import t from 'tap'
import { startSimulator } from '../../simulator/simulator.ts'
import { likenessOf } from '../audio/likeness.ts'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { freePort } from '../process/machine.ts'
import { loopbackAgent } from '../session/voice-session.ts'
import { type FixtureName, readFixture } from '../speech/fixtures.ts'
import { hasEnded, type PhoneCallRow } from './call-rows.ts'
import { settingsOf, webhookPath } from './outside-carrier.ts'
import { callWhen, newClock, newestInbound, startInTime } from './phones.ts'
import { insertOnlyTenantsNumber } from './stored-number.ts'

const voiceOf = (name: FixtureName) => new Int16Array(readFixture(name).slice(44).buffer)
const [callersVoice, recipientsVoice] = [voiceOf('privacy-prompt'), voiceOf('please-try-call-later')]
const ours = '+14155550100'
const caller = '+14155550111'
/** This phone says hello, and then answers each utterance. */
const talks = '+15005550006'
/** This phone accepts the call with the key 1. */
const accepts = '+15005550017'
/** This phone hangs up a second after it answered. */
const leaves = '+15005550021'
/** This phone is asked whether it accepts the call, and says nothing. */
const undecided = '+15005550019'
const lines = Array.from({ length: 40 }, (_, at) => `Caller, line ${at}`)
const rateHz = 8000

const clock = newClock()
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const receivedBy = new Map<string, number[]>()
const carrier = await startSimulator({
  clock,
  speak: (text) =>
    Promise.resolve({ samples: text.startsWith('Caller') ? callersVoice : recipientsVoice, sampleRateHz: rateHz }),
  webhookUrl: url + webhookPath,
  received(number, samples, hz) {
    const kept = receivedBy.get(number) ?? []
    receivedBy.set(number, kept)
    for (let at = 0; samples !== null && at < samples.length; at += hz / rateHz) kept.push(samples[at] ?? 0)
  },
})
t.teardown(() => carrier.close())

const target = await startInTime(clock, settingsOf(carrier, port))
t.teardown(() => target.close())

const sql = openDatabase(target.server)
await insertOnlyTenantsNumber(sql, { e164: ours, direction: 'both', template: loopbackAgent })
await sql.end()

const known = new Set<string>()
const attemptOf = (row: PhoneCallRow) =>
  (row['transfers'] as { id: string; status: string; failure_cause: string | null }[]).at(-1)

/** Calls the agent and transfers the caller. Returns the call's id, and the carrier's id of the caller's leg. */
async function transferred(kind: 'blind' | 'warm', to: string) {
  const options = { from: caller, to: ours, lines, headers: [], forwarding: {} }
  const legId = carrier.call(options)
  const id = await newestInbound(target, known)
  known.add(id)
  await callWhen(target, id, ({ status }) => status === 'in_progress')
  const answer = await call(target, 'POST', `/v1/calls/${id}/transfers/${kind}`, { to })
  if (answer.status !== 201) throw new Error(answer.text)
  return { id, legId }
}

async function hangUp(legId: string): Promise<void> {
  const headers = { authorization: `Bearer ${carrier.apiKey}`, 'content-type': 'application/json' }
  const path = `/calls/${encodeURIComponent(legId)}/actions/hangup`
  const { status } = await clock.during(fetch(carrier.baseUrl + path, { method: 'POST', headers, body: '{}' }))
  if (status !== 200) throw new Error(`the carrier has answered ${status}`)
}

for (const [kind, to] of [
  ['blind', talks],
  ['warm', accepts],
] as const)
  t.test(`${kind}: after the transfer the caller and the recipient receive each other's audio`, async (t) => {
    const { id, legId } = await transferred(kind, to)
    await callWhen(target, id, (row) => attemptOf(row)?.status === 'completed')
    receivedBy.clear()
    const likeness = (number: string, voice: Int16Array) =>
      likenessOf(
        voice.subarray(rateHz / 2, 2 * rateHz),
        Int16Array.from(receivedBy.get(number)?.slice(-20 * rateHz) ?? []),
      )
    for (const [name, number, voice, other] of [
      ['the caller', caller, recipientsVoice, callersVoice],
      ['the recipient', to, callersVoice, recipientsVoice],
    ] as const) {
      await clock.until(`${name} receives the other one`, () => likeness(number, voice) > 0.9, 60_000)
      t.ok(likeness(number, voice) > 0.9, `${name} receives the other one: ${likeness(number, voice)}`)
      t.ok(likeness(number, other) < 0.5, `${name} does not receive themselves: ${likeness(number, other)}`)
    }
    await hangUp(legId)
    t.match(await callWhen(target, id, hasEnded), { status: 'completed', end_reason: 'transferred' })
    await clock.until('no leg is left', () => carrier.callsCount === 0)
  })

t.test('a recipient who hangs up when asked to accept the call declines it, and the agent talks again', async (t) => {
  const { id, legId } = await transferred('warm', leaves)
  const row = await callWhen(
    target,
    id,
    ({ status, ...row }) => status === 'in_progress' && attemptOf(row as PhoneCallRow)?.status === 'failed',
  )
  t.match(attemptOf(row), { failure_cause: 'declined' })
  await clock.until('the leg of the recipient is over', () => carrier.callsCount === 1)
  await hangUp(legId)
  t.match(await callWhen(target, id, hasEnded), { status: 'completed', end_reason: 'user_hangup' })
})

t.test('if the caller hangs up while the recipient is asked to accept the call, call and both legs end', async (t) => {
  const { id, legId } = await transferred('warm', undecided)
  await callWhen(target, id, (row) => attemptOf(row)?.status === 'screening')
  await hangUp(legId)
  const row = await callWhen(target, id, hasEnded)
  t.match(row, { status: 'completed', end_reason: 'user_hangup' })
  t.match(attemptOf(row), { status: 'failed', failure_cause: 'caller_hung_up' })
  await clock.until('no leg is left', () => carrier.callsCount === 0)
})
