/**
 * The embedded English voice is understood: Hibari speaks the texts of the recorded telephone prompts, and Moonshine
 * writes down the speech, at once and after a telephone line. The figures are printed.
 */
import t from 'tap'
import { createConvertSpeech } from '../../audio/encode-output.ts'
import type { OutputFormat } from '../../audio/format.ts'
import { createResampler } from '../../runtime/optional.ts'
import { recognised } from '../audio/build.ts'
import { loadPrompts } from '../speech/prompts.ts'
import { type ErrorCount, errorRate, wordErrors } from '../speech/words.ts'
import { openLocal } from './setup.ts'

const local = openLocal(t)
const convertSpeech = createConvertSpeech(createResampler)
const native = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 } as const
const telephone = { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 } as const
/** The largest share of words that the recognizer may mistake. */
const rateMax = { native: 0.015, telephone: 0.02 }
const busyMs = 600_000

async function chunksOf(audio: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of audio) chunks.push(chunk)
  return chunks
}

async function errorsIn(text: string, chunks: readonly Uint8Array[], format: OutputFormat): Promise<ErrorCount> {
  return wordErrors(text, (await local.transcribe(recognised(chunks, format))).text)
}

const percent = (share: number) => `${(100 * share).toFixed(2)} %`

t.test('the recognizer mistakes few words of the voice Hibari', { timeout: busyMs }, async (t) => {
  const loaded = await loadPrompts()
  if ('missing' in loaded) {
    t.pass(loaded.missing, { skip: loaded.missing })
    return
  }
  t.ok(loaded.prompts.length >= 85, `${loaded.prompts.length} prompts`)
  const counts: Record<'native' | 'telephone', ErrorCount[]> = { native: [], telephone: [] }
  for (const { text } of loaded.prompts) {
    const request = { model: 'hibari', text, outputFormat: native }
    const { audio } = await local.provider.ports.speech!.tts!.synthesize(request, new AbortController().signal)
    const spoken = await chunksOf(audio)
    counts.native.push(await errorsIn(text, spoken, native))
    const line = await chunksOf(convertSpeech(new Blob(spoken).stream(), native, telephone))
    counts.telephone.push(await errorsIn(text, line, telephone))
  }
  for (const way of ['native', 'telephone'] as const) {
    const rate = errorRate(counts[way])
    t.comment(`${way}: ${percent(rate)} of the words are mistaken`)
    t.ok(rate <= rateMax[way], `${way}: ${percent(rate)}`)
  }
})
