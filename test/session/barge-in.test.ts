/**
 * Tests a caller who speaks while the agent speaks, over the real media channel, on the embedded engines and in real
 * time. The times come from the caller's microphone and speaker.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startAdministeredProgram } from '../process/administered.ts'

import { speech } from '../router/requests.ts'
import { speechAt } from '../speech/samples.ts'
import { endedCall, type Sound, soundsOf } from './recorded-call.ts'
import { callerRateHz, type Shown, VoiceCaller } from './voice-caller.ts'

/** The length of the voice `rms`, and each word's end as its engine reports it (`flite -psdur`), in ms. */
const sentences = [
  {
    text: 'The train to London leaves at seven in the morning.',
    lengthMs: 3290,
    endsMs: [344, 741, 861, 1304, 1743, 1907, 2375, 2550, 2634, 3100],
  },
  {
    text: 'Please call us again tomorrow after lunch.',
    lengthMs: 2935,
    endsMs: [466, 857, 1059, 1441, 1925, 2323, 2746],
  },
  {
    text: 'Our office is closed on Sunday and Monday.',
    lengthMs: 3180,
    endsMs: [466, 979, 1107, 1572, 1816, 2344, 2518, 3008],
  },
]
const message = sentences.map(({ text }) => text).join(' ')
/** The unplayed silence before the first sentence, with its tolerance. */
const leadMs = { least: 80, most: 200 }
const samplesPerMs = callerRateHz / 1000
/** A silence this long is the pause that the interruption caused, because the pauses inside the message are shorter. */
const gapMs = 450

const { admin } = await startAdministeredProgram(t, { PARLEY_LOCAL_WARM: 'true' })
const acme = await admin.organization('barge-in')
await admin.store.organizations.change(acme.id, { recordingEnabled: true })
const interruption = await speechAt('tt-weasels', callerRateHz)
const systemPrompt = 'Q: Weasels have eaten our phone system.\nA: I am sorry.'

/** Speaks during the agent's message, `afterMs` after its start. */
async function speakInto(afterMs: number, voice: Int16Array): Promise<VoiceCaller> {
  const caller = await VoiceCaller.join(acme, { systemPrompt, voice: 'rms', firstMessage: message })
  await caller.shows(({ type }) => type === 'mark')
  await sleep(afterMs)
  await caller.say(voice)
  return caller
}

/** Returns the played part of the message at this moment in the agent's track, in ms. */
const playedMs = (agent: Int16Array, untilMs: number) =>
  agent.subarray(0, untilMs * samplesPerMs).findLastIndex((sample) => sample !== 0) / samplesPerMs -
  agent.findIndex((sample) => sample !== 0) / samplesPerMs

/** Counts the message's words that have ended, and the words that have at least begun, by this time. */
function wordsAt(ms: number): { ended: number; begun: number } {
  let startMs = 0
  const endsMs = sentences.flatMap(({ endsMs, lengthMs }) => {
    const ends = endsMs.map((endMs) => startMs + endMs)
    startMs += lengthMs
    return ends
  })
  const ended = endsMs.filter((endMs) => endMs <= ms + leadMs.least).length
  return { ended, begun: endsMs.filter((endMs) => endMs <= ms + leadMs.most).length + 1 }
}

t.test('an interruption silences the agent, and the transcript keeps only the words that were played', async (t) => {
  const interrupt = async (afterMs: number) => {
    const caller = await speakInto(afterMs, interruption)
    const isAnswer = (shown: Shown) =>
      shown.type === 'agent_message' && shown['isFinal'] === true && shown['interrupted'] !== true
    await caller.shows(isAnswer)
    await caller.hangUp()
    const { transcript } = await endedCall(acme, caller.sessionId)
    const { caller: said, agent } = caller.voices()
    const onsetMs = soundsOf(said)[0]?.startMs ?? 0
    const silentMs = soundsOf(agent, gapMs)[0]?.endMs ?? 0
    const deciding = await caller.shows(({ type, text }) => type === 'transcript' && text !== '')
    t.ok(silentMs - onsetMs <= 200, `silent ${(silentMs - onsetMs).toFixed(0)} ms after the onset`)
    const decidedMs = deciding.atMs - caller.startedMs
    t.ok(silentMs - decidedMs <= 200, `silent ${(silentMs - decidedMs).toFixed(0)} ms after the deciding transcript`)
    const turn = transcript.entries.find(({ source }) => source === 'agent')
    const kept = turn?.['heard_text'] ?? ''
    t.equal(turn?.latency_status, 'interrupted')
    t.ok(message.startsWith(kept))
    const count = kept.split(' ').length
    const words = wordsAt(playedMs(agent, onsetMs + 1000))
    const question = transcript.entries.find(({ source }) => source === 'user')?.text
    t.comment(`"${question}": ${count} words kept, ${words.ended} had ended, ${words.begun} had begun`)
    t.ok(count <= words.begun, 'never more than was played')
    t.ok(count >= words.ended - 2)
    return count - words.ended
  }
  const off = await Promise.all([2300, 3900, 5100].map(interrupt))
  t.comment(`words that are kept, less those that had ended: ${off.join(' ')}`)
})

t.test('after a backchannel such as "mhm" the agent goes on without losing a word', async (t) => {
  for (const [input, voice] of [
    ['Yeah.', 'slt'],
    ['I see.', 'rms'],
  ] as const) {
    const caller = await speakInto(2500, await voiceOf(input, voice))
    await caller.shows(({ type, isFinal }) => type === 'agent_message' && isFinal === true)
    await caller.hangUp()
    const { transcript } = await endedCall(acme, caller.sessionId)
    const { caller: said, agent } = caller.voices()
    t.match(transcript.entries, [
      { source: 'agent', text: message, ['heard_text']: message, latency_status: 'complete' },
    ])
    const onsetMs = soundsOf(said)[0]?.startMs ?? 0
    const pause = longestPause(agent)
    t.comment(
      `"${input}": paused ${(pause.startMs - onsetMs).toFixed(0)} ms after the onset, for ${(pause.endMs - pause.startMs).toFixed(0)} ms`,
    )
    t.ok(pause.startMs > onsetMs && pause.startMs - onsetMs <= 200, 'paused at the onset')
    t.ok(pause.endMs - pause.startMs >= 100 && pause.endMs - pause.startMs <= 4000, 'and goes on')
    const whole = await Promise.all(sentences.map(({ text }) => voiceOf(text, 'rms')))
    const missing = samplesMissing(Int16Array.from(whole.flatMap((part) => [...part])), agent, pause)
    t.comment(`${missing} samples of the message are missing`)
    t.equal(missing, 0)
  }
})

/** Returns the longest pause. A speaker without audio plays exact zeros, while the voice has noise in its silence. */
function longestPause(agent: Int16Array): Sound {
  const first = agent.findIndex((sample) => sample !== 0)
  const last = agent.findLastIndex((sample) => sample !== 0)
  let longest = { from: first, to: first }
  for (let at = first, from = first; at <= last; at++) {
    if (agent[at] === 0) continue
    if (at - from > longest.to - longest.from) longest = { from, to: at }
    from = at + 1
  }
  return { startMs: longest.from / samplesPerMs, endMs: longest.to / samplesPerMs }
}

/** Counts the unplayed samples between the message's first and last sound, and fails if anything else is missing. */
function samplesMissing(message: Int16Array, agent: Int16Array, { startMs, endMs }: Sound): number {
  const before = soundingPart(agent.subarray(0, startMs * samplesPerMs))
  const after = soundingPart(agent.subarray(endMs * samplesPerMs))
  const expected = soundingPart(message)
  const isSame = (part: Int16Array, from: number) => part.every((sample, at) => sample === expected[from + at])
  // If the agent paused while the voice was silent anyway, this silence is at the edge of a part, and is cut off with
  // the pause.
  const lastLoud = before.length
  const firstLoud = expected.length - after.length
  if (!isSame(before, 0) || !isSame(after, firstLoud)) return Number.POSITIVE_INFINITY
  const silence = expected.subarray(lastLoud, firstLoud)
  return silence.filter((sample) => Math.abs(sample) >= loud).length + Math.min(0, firstLoud - lastLoud)
}

function soundingPart(samples: Int16Array): Int16Array {
  const isLoud = (sample: number) => Math.abs(sample) >= loud
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1)
}

const loud = 200

/** A voice from the embedded engine at the caller's rate. */
async function voiceOf(input: string, voice: string): Promise<Int16Array> {
  const audio = { encoding: 'pcm_s16le', sample_rate_hz: callerRateHz, channels: 1 }
  const headers = {
    authorization: `Bearer ${acme.key}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  }
  const body = JSON.stringify({ input, voice, audio })
  const answer = await fetch(acme.url + speech, { method: 'POST', body, headers })
  if (answer.status !== 200) throw new Error(await answer.text())
  return new Int16Array(await answer.arrayBuffer())
}
