/** The entry file for a process that synthesizes. Each job is one sentence. Only fork starts it. */
import { createConvertSpeech } from '../../../audio/encode-output.ts'
import { createResampler } from '../../../runtime/optional.ts'
import { serveJobs } from '../children/child-jobs.ts'
import type { WarmInput } from '../children/child-messages.ts'
import { type Flite, fliteFormat, fliteRateHz, openFlite } from './flite.ts'
import type { TtsInput, TtsOutput } from './tts-messages.ts'

const convert = createConvertSpeech(createResampler)
let flite: Promise<Flite> | undefined

/** This text is synthesized in advance, because a process needs much longer for its first sentence. */
const warmUp: TtsInput = { text: 'One.', voice: 'rms', speed: 1, sampleRateHz: fliteRateHz }

serveJobs<TtsInput | WarmInput, TtsOutput>(async (input) => {
  const { text, voice, speed, sampleRateHz } = 'warm' in input ? warmUp : input
  const voices = await (flite ??= open())
  const { samples, ends } = await voices.speak(text, voice, speed)
  return { samples: sampleRateHz === fliteRateHz ? samples : await converted(samples, sampleRateHz), ends }
})

/**
 * Converts the sample rate, if possible with the short filter: the other filter takes as long as the synthesis, and
 * meanwhile other organizations' texts wait.
 */
async function converted(samples: Uint8Array, sampleRateHz: number): Promise<Uint8Array> {
  const audio = new Blob([samples]).stream()
  const chunks: Uint8Array[] = []
  for await (const chunk of convert(audio, fliteFormat(fliteRateHz), fliteFormat(sampleRateHz), { live: true }))
    chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Loads the voice. After a failure the next job tries again. */
async function open(): Promise<Flite> {
  try {
    return await openFlite()
  } catch (error) {
    flite = undefined
    throw error
  }
}
