/** How well the embedded speech understands people, and how well it is understood. The figures go into the output. */
import t from 'tap'
import { recogniseRecording } from '../../audio/recognise.ts'
import { loadPrompts, type Prompt } from '../speech/prompts.ts'
import { errorRate, wordErrors, words } from '../speech/words.ts'
import { native, openLocal } from './setup.ts'

const humanMax = 0.05
const roundTripMax = 0.08
const loaded = await loadPrompts()
const prompts = 'prompts' in loaded ? loaded.prompts : []
const skip = 'missing' in loaded ? loaded.missing : false
const telephone = { encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 } as const

t.test('the normal form hides how a thing is written, not what is said', (t) => {
  t.same(
    words("That's 21 of 1,305: I can't press 0!"),
    words('that is twenty-one of one thousand three hundred five i can not press zero'),
  )
  t.same(words('3D'), ['three', 'd'])
  t.same(wordErrors('press one now', 'press won'), { errors: 2, words: 3 })
  t.same(wordErrors('', 'thank you'), { errors: 2, words: 0 })
  t.equal(
    errorRate([
      { errors: 1, words: 3 },
      { errors: 0, words: 7 },
    ]),
    0.1,
  )
  t.end()
})

t.test('recorded people', { skip }, async (t) => {
  const { transcribe } = openLocal(t, { sttProcesses: 2 })
  const totalMs = prompts.reduce((sum, prompt) => sum + prompt.durationMs, 0)
  t.ok(prompts.length >= 60 && totalMs >= 300_000, `${prompts.length} prompts, ${Math.round(totalMs / 1000)} s`)
  const counts = await Promise.all(
    prompts.map(async ({ text, wav }) => wordErrors(text, (await transcribe(recogniseRecording([wav], null))).text)),
  )
  const rate = errorRate(counts)
  t.ok(rate <= humanMax, `word error rate ${percent(rate)}, at most ${percent(humanMax)}`)
})

t.test('four minutes in one file come back whole', { skip }, async (t) => {
  const { transcribe } = openLocal(t)
  const { chunks, text } = joined(prompts, 240_000)
  const recording = recogniseRecording(chunks, telephone)
  const transcript = await transcribe(recording)
  const { errors, words } = wordErrors(text, transcript.text)
  t.ok(errors / words <= humanMax, `word error rate ${percent(errors / words)}`)
  t.ok(transcript.segments.at(-1)!.endMs > recording.durationMs - 3000, 'to its end')
  const places = transcript.segments.flatMap(({ startMs, endMs }) => [startMs, endMs])
  t.same(
    places,
    places.toSorted((a, b) => a - b),
    'in order',
  )
})

t.test('the default voice is understood', { skip }, async (t) => {
  const { transcribe, speak } = openLocal(t, { sttProcesses: 2 })
  const counts = await Promise.all(
    prompts.map(async ({ text }) => {
      const heard = await transcribe(recogniseRecording(await speak(text), { ...native, encoding: 'pcm_s16le' }))
      return wordErrors(text, heard.text)
    }),
  )
  const rate = errorRate(counts)
  t.ok(rate <= roundTripMax, `word error rate ${percent(rate)}, at most ${percent(roundTripMax)}`)
})

/** Prompts one after the other with 0.7 s between them, as a person would pause. */
function joined(prompts: readonly Prompt[], durationMsMin: number): { chunks: Uint8Array[]; text: string } {
  const pause = new Uint8Array(700 * 16)
  const chunks: Uint8Array[] = []
  const texts: string[] = []
  let durationMs = 0
  for (const { wav, text, durationMs: promptMs } of prompts) {
    if (durationMs >= durationMsMin) break
    const { dataOffset, dataBytes } = recogniseRecording([wav], null)
    chunks.push(wav.subarray(dataOffset, dataOffset + dataBytes), pause)
    texts.push(text)
    durationMs += promptMs + 700
  }
  return { chunks, text: texts.join(' ') }
}

function percent(rate: number): string {
  return `${(rate * 100).toFixed(1)} %`
}
