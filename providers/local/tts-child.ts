/** Entry of the process that speaks, a sentence a job. Started by fork only. */
import { serveJobs } from './child-jobs.ts'
import type { TtsInput, TtsOutput } from './child-messages.ts'
import { type Flite, openFlite } from './flite.ts'

let flite: Promise<Flite> | undefined

serveJobs<TtsInput, TtsOutput>(async ({ text, voice, speed }) => {
  const voices = await (flite ??= open())
  return { samples: await voices.speak(text, voice, speed) }
})

/** A failure is tried again by the next job. */
async function open(): Promise<Flite> {
  try {
    return await openFlite()
  } catch (error) {
    flite = undefined
    throw error
  }
}
