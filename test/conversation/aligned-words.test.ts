/** If the voice of an interrupted turn reports no word times, a word aligner finds the played words in the audio. */
import t from 'tap'
import { Settling } from '../../domain/conversation/turns/settling.ts'
import type { Aligner, AlignRequest } from '../../domain/ports/alignment.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { settled, TestClock } from '../clock.ts'
import { letterMs, rateHz, wordAt } from './caller.ts'
import { later } from './engines.ts'
import { converse, type Options } from './setup.ts'

const story =
  'There once lived a king. He lived in a castle by the sea, and he had three daughters who sang all day and all night.'

/** The caller plays this many samples at a time. A word counts as played if fewer samples than this are missing. */
const tickSamples = rateHz / 100

type Asked = AlignRequest & { signal: AbortSignal; atMs: number }

/** Makes a word aligner that reads the words from the samples, and answers after `ms`. */
function reading(asked: Asked[], ms = 150) {
  return (clock: Clock): Aligner => ({
    async spokenUpTo(request, signal) {
      asked.push({ ...request, signal, atMs: clock.monotonicMs() })
      await later(clock, ms)
      let place = 0
      let from = 0
      for (const { 0: word, index } of request.text.matchAll(/\S+/g)) {
        from += (word.length * letterMs * rateHz) / 1000
        if (from > request.samples.length + tickSamples) break
        if (wordAt(request.samples[from - 1 - tickSamples] ?? 0, 'agent') !== word)
          throw new Error('these are other words')
        place = index + word.length
      }
      return place
    },
  })
}

/** Lets the caller interrupt the agent's story after `ms`. */
async function interrupted(ms: number, options: Options) {
  const all = converse({ answerOf: (said) => (said.startsWith('tell') ? story : 'Yes.'), ...options })
  const { sim, record } = all
  sim.say('tell me.')
  await sim.until(() => sim.firstAgentAudioMs(0) !== null)
  await sim.run(ms)
  const onsetMs = sim.nowMs
  sim.say('wait please stop.')
  await sim.until(() => record.turns.some(({ text }) => text === 'wait please stop.'))
  const text = record.turns.find(({ source }) => source === 'agent')?.playedText ?? ''
  return { ...all, text, onsetMs }
}

t.test('the played words that a word aligner finds in the audio are stored, shown, and sent to the LLM', async (t) => {
  for (let ms = 300; ms < 4900; ms += 310) {
    const asked: Asked[] = []
    const { sim, record, text, requests } = await interrupted(ms, { aligner: reading(asked) })
    t.equal(text, sim.wholeAgentWords.join(' '), `after ${ms} ms`)
    t.equal(asked.length, 1, 'the aligner is asked once')
    await sim.until(() => record.turns.length === 4)
    const inHistory = requests.at(-1)?.items.filter((item) => item.type === 'message' && item.role === 'assistant')
    t.same(inHistory, [{ type: 'message', role: 'assistant', text }])
    t.match(
      sim.events.findLast((event) => event.type === 'agentMessage' && event.interrupted),
      { text, isFinal: true },
    )
  }
})

t.test('a word aligner gets the current sentence and only its played audio', async (t) => {
  const asked: Asked[] = []
  const { sim } = await interrupted(4000, { aligner: reading(asked) })
  const [first, second] = story.split(/(?<=king\.)/) as [string, string]
  t.equal(asked[0]?.text.trim(), second.trim())
  const firstMs = first.replaceAll(' ', '').length * letterMs
  const playedMs =
    sim.played.filter(({ sample }) => wordAt(sample, 'agent') && !'Yes.'.includes(wordAt(sample, 'agent')!)).length * 10
  const samplesMs = ((asked[0]?.samples.length ?? 0) * 1000) / rateHz
  t.ok(Math.abs(firstMs + samplesMs - playedMs) <= 10, `${samplesMs} ms of ${playedMs - firstMs}`)
})

t.test('if the word aligner fails or is late, the played text is estimated without delay', async (t) => {
  const plain = await interrupted(2500, {})
  await plain.sim.until(() => plain.record.turns.length === 4)
  for (const [name, aligner] of [
    ['fails', () => ({ spokenUpTo: () => Promise.reject(new Error('broken')) })],
    ['never answers', () => ({ spokenUpTo: () => new Promise<number>(() => {}) })],
    ['is late', reading([], 1000)],
  ] as const) {
    const { text, record, sim, onsetMs } = await interrupted(2500, { aligner })
    t.equal(text, plain.text, name)
    const silentMs =
      (sim.played.findLast(({ sample, atMs }) => sample !== 0 && atMs < onsetMs + 1000)?.atMs ?? 0) - onsetMs
    t.ok(silentMs <= 200, `silent after ${silentMs} ms`)
    await sim.until(() => record.turns.length === 4)
    const [late, before] = [record.turns, plain.record.turns].map((turns) => turns.at(-1)?.conversationalLatencyMs ?? 0)
    t.ok(late! - before! <= 20, `answered after ${late} ms, where it is ${before} ms without`)
  }
})

t.test('a word aligner that exceeds its time limit is cancelled', async (t) => {
  const asked: Asked[] = []
  const { sim } = await interrupted(2500, { aligner: reading(asked, 5000) })
  await sim.run(500)
  t.ok(asked[0]?.signal.aborted)
})

t.test('no word aligner is used if the voice reports word timings', async (t) => {
  const asked: Asked[] = []
  const { text, sim } = await interrupted(2500, { aligner: reading(asked), reportsWords: true })
  t.equal(text, sim.wholeAgentWords.join(' '))
  t.equal(asked.length, 0)
})

t.test(
  'if the client does not answer `clear` and the word aligner is late, the played text is set in 400 ms',
  async (t) => {
    for (const [answersAfterMs, foundAfterMs, settledAfterMs] of [
      [null, null, 400],
      [null, 50, 350],
      [100, null, 400],
      [100, 100, 200],
      [0, null, 400],
    ] as const) {
      const clock = new TestClock()
      const settling = new Settling({
        clock,
        playout: { awaitsCleared: answersAfterMs !== 0 },
        defect: (error) => t.fail(String(error)),
      })
      let settledMs: number | null = null
      const findPlayed = () =>
        new Promise<void>((resolve) => {
          if (foundAfterMs !== null) clock.after(foundAfterMs, resolve)
        })
      settling.begin({ findPlayed }, () => {})
      settling.afterwards(() => (settledMs = clock.monotonicMs()))
      if (answersAfterMs !== null) clock.after(answersAfterMs, () => settling.cleared())
      for (let ms = 0; ms < 1000; ms += 10) {
        await clock.advance(10)
        await settled()
      }
      t.equal(settledMs, settledAfterMs, `cleared after ${answersAfterMs}, found after ${foundAfterMs}`)
    }
  },
)
