/** Entry of the process that speaks, a sentence a job. Started by fork only. */
import { serveJobs } from './child-jobs.ts'
import { type Flite, openFlite } from './flite.ts'
import type { TtsInput, TtsOutput } from './messages.ts'

let flite: Promise<Flite> | undefined

serveJobs<TtsInput, TtsOutput>(async ({ text, voice, speed }) => {
  flite ??= openFlite()
  return { samples: await (await flite).speak(text, voice, speed) }
})
