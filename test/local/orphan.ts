/** children.test.ts starts this file as a server, and kills it in the middle of a job. */
import { longRecording, openLocal } from './setup.ts'

const { transcribe, speak, started } = openLocal(
  { teardown: () => {} },
  { onProgress: () => process.stdout.write(`${JSON.stringify(started)}\n`) },
)
await speak('Hello.')
await transcribe(longRecording(1000))
