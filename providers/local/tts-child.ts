/** The entry of the process that synthesizes; a job is one sentence. Only fork starts it. */
import { serveJobs } from './child-jobs.ts'
import type { TtsInput, TtsOutput } from './child-messages.ts'
import { type Flite, openFlite } from './flite.ts'

let flite: Promise<Flite> | undefined

serveJobs<TtsInput, TtsOutput>(async ({ text, voice, speed }) => {
  const voices = await (flite ??= open())
  return voices.speak(text, voice, speed)
})

/** After a failure the next job tries again. */
async function open(): Promise<Flite> {
  try {
    return await openFlite()
  } catch (error) {
    flite = undefined
    throw error
  }
}
