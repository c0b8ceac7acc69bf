/**
 * Tests that a call's record is true. Recorded voices talk to an agent over the real media channel, on the embedded
 * engines and in real time. The record is compared with the audio.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startAdministeredProgram } from '../process/administered.ts'

import { type FixtureName, spoken } from '../speech/fixtures.ts'
import { speechAt } from '../speech/samples.ts'
import { errorRate, wordErrors } from '../speech/words.ts'
import { endedCall, type RecordedCall, soundsOf, type Voices, voicesOf, wordsOf } from './recorded-call.ts'
import { callerRateHz, VoiceCaller } from './voice-caller.ts'

/**
 * Sentences that the embedded voice and recognition reproduce. The questions have no pause as long as the end point
 * window, because such a pause ends a turn.
 */
const answers = {
  'cannot-complete-as-dialed': 'The train to London leaves at seven in the morning.',
  'conf-noempty': 'You can pay by card at the front desk.',
  'conf-waitforleader': 'We have three rooms with a view of the lake.',
  'please-try-call-later': 'Please call us again tomorrow after lunch.',
  'tt-weasels': 'We deliver to your house every day of the week.',
} satisfies Partial<Record<FixtureName, string>>
const names = Object.keys(answers) as (keyof typeof answers)[]
const systemPrompt = names.map((name) => `Q: ${spoken[name]}\nA: ${answers[name]}`).join('\n')
const conversationsCount = 10
const atOnce = 3

const { admin } = await startAdministeredProgram(t, { PARLEY_LOCAL_WARM: 'true' })
const acme = await admin.organization('truth')
await admin.store.organizations.change(acme.id, { recordingEnabled: true })

type Held = { asked: (keyof typeof answers)[]; row: RecordedCall; noticed: Voices; recorded: Voices }

/** Asks two questions per conversation, each time in another order and with another pause. */
async function converse(number: number): Promise<Held> {
  const asked = [names[number % names.length]!, names[(number + 1 + Math.floor(number / names.length)) % names.length]!]
  const caller = await VoiceCaller.join(acme, { systemPrompt, voice: 'rms' })
  for (const [turn, name] of asked.entries()) {
    await sleep(700 + 137 * ((number + turn) % 4))
    await caller.ask(await speechAt(name, callerRateHz))
  }
  await sleep(300)
  await caller.hangUp()
  const row = await endedCall(acme, caller.sessionId)
  return { asked, row, noticed: caller.voices(), recorded: await voicesOf(acme, caller.sessionId) }
}

const held: Held[] = []
t.before(async () => {
  const numbers = Array.from({ length: conversationsCount }, (_, number) => number)
  const lane = async () => {
    for (let next = numbers.shift(); next !== undefined; next = numbers.shift()) held.push(await converse(next))
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
})

const textOf = ({ row }: Held, source: 'user' | 'agent', field: 'text' | 'heard_text') =>
  row.transcript.entries
    .filter((turn) => turn.source === source)
    .map((turn) => turn[field])
    .join(' ')

t.test("in spoken conversations the transcript has the user's words", (t) => {
  const counts = held.map((each) =>
    wordErrors(each.asked.map((name) => spoken[name]).join(' '), textOf(each, 'user', 'text')),
  )
  t.comment(`word error rate over ${held.length} conversations: ${(100 * errorRate(counts)).toFixed(1)} %`)
  t.equal(held.length, conversationsCount)
  t.ok(errorRate(counts) <= 0.06)
  t.end()
})

t.test("in spoken conversations the agent's voice says the words that the transcript shows", async (t) => {
  const rates = { played: [] as ReturnType<typeof wordErrors>[], recorded: [] as ReturnType<typeof wordErrors>[] }
  for (const each of held) {
    const text = textOf(each, 'agent', 'heard_text')
    t.equal(text, each.asked.map((name) => answers[name]).join(' '))
    t.equal(text, textOf(each, 'agent', 'text'))
    rates.played.push(wordErrors(text, await wordsOf(acme, each.noticed.agent)))
    rates.recorded.push(wordErrors(text, await wordsOf(acme, each.recorded.agent)))
  }
  for (const [what, counts] of Object.entries(rates)) {
    t.comment(`word error rate of the voice that was ${what}: ${(100 * errorRate(counts)).toFixed(1)} %`)
    t.ok(errorRate(counts) <= 0.06, what)
  }
})

t.test('in spoken conversations the spans of each answer latency add up to the recorded latency', (t) => {
  const errorsMs = { recording: [] as number[], caller: [] as number[] }
  for (const { row, noticed, recorded } of held) {
    const turns = row.span_tree.spans[0]?.children.filter(({ kind }) => kind === 'turn') ?? []
    t.equal(turns.length, 2)
    for (const [index, { attributes, children }] of turns.entries()) {
      const silenceMs = Number(attributes['silence_ms'])
      const sum = children.reduce((total, child) => total + child.critical_ms, 0)
      t.ok(Math.abs(sum - silenceMs) <= 1, `${sum} ms of ${silenceMs} ms`)
      errorsMs.recording.push(silenceMs - (silencesOf(recorded)[index] ?? Number.NaN))
      errorsMs.caller.push(silenceMs - (silencesOf(noticed)[index] ?? Number.NaN))
    }
  }
  t.comment(`silence_ms less the silence of the recording: ${rounded(errorsMs.recording)} ms`)
  t.comment(`silence_ms less the silence that the caller noticed: ${rounded(errorsMs.caller)} ms`)
  t.equal(errorsMs.recording.length, 2 * conversationsCount)
  t.same(
    errorsMs.recording.filter((ms) => !(Math.abs(ms) <= 40)),
    [],
  )
  t.end()
})

/** Returns for each sound of the agent the time since the caller's last sound. */
function silencesOf({ caller, agent }: Voices): number[] {
  const said = soundsOf(caller)
  return soundsOf(agent).map(({ startMs }) => startMs - (said.findLast(({ endMs }) => endMs < startMs)?.endMs ?? 0))
}

const rounded = (values: readonly number[]) => values.map((value) => value.toFixed(0)).join(' ')
