/** The entry file for a process that synthesizes. Each job is one sentence. Only fork starts it. */
import { serveJobs } from './child-jobs.ts'
import type { TtsInput, TtsOutput, WarmInput } from './child-messages.ts'
import { type Flite, openFlite } from './flite.ts'

let flite: Promise<Flite> | undefined

/** This text is synthesized in advance, because a process needs much longer for its first sentence. */
const warmUp: TtsInput = { text: 'One.', voice: 'rms', speed: 1 }

serveJobs<TtsInput | WarmInput, TtsOutput>(async (input) => {
  const { text, voice, speed } = 'warm' in input ? warmUp : input
  const voices = await (flite ??= open())
  return voices.speak(text, voice, speed)
})

/** Loads the voice. After a failure the next job tries again. */
async function open(): Promise<Flite> {
  try {
    return await openFlite()
  } catch (error) {
    flite = undefined
    throw error
  }
}
