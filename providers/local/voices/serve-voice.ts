/** Runs the jobs in a voice engine's child process. Each job is one sentence. */
import { createConvertSpeech } from '../../../audio/encode-output.ts'
import { createResampler } from '../../../runtime/optional.ts'
import { serveJobs } from '../children/child-jobs.ts'
import type { WarmInput } from '../children/child-messages.ts'
import { KeptSpeaker, type Speaker } from './kept-speaker.ts'
import type { TtsInput, TtsOutput } from './tts-messages.ts'
import { voiceFormat } from './voice-engine.ts'

export type ServedVoice = {
  /** Loads the engine's files. */
  open: () => Promise<Speaker>
  sampleRateHz: number
  /** The voice for the warm-up. */
  voice: string
}

/** This text is synthesized in advance, because a process needs much longer for its first sentence. */
const warmUpText = 'One.'

const convert = createConvertSpeech(createResampler)

export function serveVoice({ open, sampleRateHz: ownRateHz, voice }: ServedVoice): void {
  const warmUp: TtsInput = { text: warmUpText, voice, speed: 1, sampleRateHz: ownRateHz }
  const speaker = new KeptSpeaker(open)
  serveJobs<TtsInput | WarmInput, TtsOutput>(async (input) => {
    const { text, voice, speed, sampleRateHz } = 'warm' in input ? warmUp : input
    const { samples, ends } = await speaker.speak(text, voice, speed)
    return { samples: sampleRateHz === ownRateHz ? samples : await converted(samples, ownRateHz, sampleRateHz), ends }
  })
}

/**
 * Converts the sample rate, if possible with the short filter: the other filter takes as long as the synthesis, and
 * meanwhile other organizations' texts wait.
 */
async function converted(samples: Uint8Array, fromHz: number, toHz: number): Promise<Uint8Array> {
  const audio = new Blob([samples]).stream()
  const chunks: Uint8Array[] = []
  for await (const chunk of convert(audio, voiceFormat(fromHz), voiceFormat(toHz), { live: true })) chunks.push(chunk)
  return Buffer.concat(chunks)
}
