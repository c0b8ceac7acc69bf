/**
 * Speech engines that have just started answer seconds late. No word may be lost, and the call record must have the
 * times of the audio.
 */
import t from 'tap'
import type { Span } from '../../domain/records/call.ts'
import { failure } from '../domain/fakes.ts'
import { converse } from './setup.ts'

type Talk = ReturnType<typeof converse>

const turnsOf = ({ record }: Talk) => record.spans.filter(({ kind }) => kind === 'turn')
const silenceOf = (span: Span | undefined) => Number(span?.attributes['silence_ms'])
const wordsOf = ({ record }: Talk, source: 'user' | 'agent') =>
  record.turns.flatMap((turn) => (turn.source === source ? [turn.text] : [])).join(' ')

/**
 * Speaks and waits for the whole answer. Returns the silence between the speech and the answer, as the caller notices
 * it.
 */
async function ask(talk: Talk, text: string): Promise<number> {
  const { sim } = talk
  const turns = turnsOf(talk).length
  await sim.run(sim.say(text))
  const endMs = sim.nowMs
  await sim.until(() => turnsOf(talk).length > turns, 40_000)
  return (sim.firstAgentAudioMs(endMs) ?? Number.NaN) - endMs
}

for (const coldMs of [{ vad: 6000 }, { stt: 6000 }, { vad: 3000, stt: 7000 }, { vad: 7000, stt: 3000 }]) {
  t.test(`the first turns' latency is recorded right if engines start late: ${JSON.stringify(coldMs)}`, async (t) => {
    const talk = converse({ coldMs, answerOf: () => 'I see.' })
    await talk.sim.run(700)
    for (const text of ['please book a table.', 'at eight.']) {
      const silenceMs = await ask(talk, text)
      const recordedMs = silenceOf(turnsOf(talk).at(-1))
      t.ok(Math.abs(recordedMs - silenceMs) <= 45, `${recordedMs} ms of ${silenceMs} ms`)
      t.equal(talk.record.turns.at(-2)?.text, text)
    }
    t.equal(talk.record.turns.length, 4)
    t.ok(talk.sim.agentWords.endsWith('I see. I see.'), talk.sim.agentWords)
  })
}

t.test('if voice activity detection misses the end of speech, the last word counts as the end', async (t) => {
  const talk = converse({ answerOf: () => 'I see.' })
  await talk.sim.run(500)
  await ask(talk, 'please book a table.')
  talk.broken.vad = true
  await talk.sim.run(3000)
  const silenceMs = await ask(talk, 'at eight.')
  const recordedMs = silenceOf(turnsOf(talk).at(-1))
  t.ok(Math.abs(recordedMs - silenceMs) <= 45, `${recordedMs} ms of ${silenceMs} ms`)
})

t.test('if recognition is late, the words after a pause in the utterance are answered too', async (t) => {
  const talk = converse({ coldMs: { stt: 9000 }, answerOf: () => 'I see.' })
  const { sim } = talk
  await sim.run(500)
  sim.say('please enter your number.')
  sim.pause(700)
  sim.say('starting with the area code.')
  await sim.run(20_000)
  t.equal(wordsOf(talk, 'user'), 'please enter your number. starting with the area code.')
})

t.test('speech that continues after a network stall is one turn, which ends with its audio', async (t) => {
  const talk = converse({ answerOf: () => 'I see.', turnHandling: { endpointing: { minDelay: 1500, maxDelay: 2500 } } })
  const { sim } = talk
  await sim.run(500)
  const speechMs = sim.say('please book a table for two persons.')
  await sim.run(500)
  await sim.runDeaf(700)
  await sim.run(speechMs - 500)
  const endMs = sim.nowMs
  await sim.until(() => turnsOf(talk).length > 0)
  const silenceMs = (sim.firstAgentAudioMs(endMs) ?? Number.NaN) - endMs
  t.ok(Math.abs(silenceOf(turnsOf(talk)[0]) - silenceMs) <= 45, `${silenceOf(turnsOf(talk)[0])} ms of ${silenceMs} ms`)
  t.equal(wordsOf(talk, 'user'), 'please book a table for two persons.')
})

t.test('if a speech-to-text stream fails, the next stream recognizes the words before the failure', async (t) => {
  const talk = converse({ coldMs: { vad: 5000 }, answerOf: () => 'I see.' })
  const { sim, streams } = talk
  await sim.run(200)
  await sim.run(sim.say('please'))
  streams.at(-1)?.fail(failure('server'))
  await sim.run(20_000)
  t.equal(wordsOf(talk, 'user'), 'please')
})

t.test('words that were said before the agent spoke are answered, even if they are recognized later', async (t) => {
  const talk = converse({
    coldMs: { stt: 8000 },
    settings: { firstMessage: `Hello and ${'welcome '.repeat(30)}.`, firstMessageMode: 'message' },
  })
  const { sim } = talk
  await sim.run(1000)
  sim.say('please book a table.')
  await sim.run(25_000)
  t.equal(wordsOf(talk, 'user'), 'please book a table.')
})
