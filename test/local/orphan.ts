/** children.test.ts starts this as a server in the middle of its work, and then kills it. */
import { longRecording, openLocal } from './setup.ts'

const { transcribe, speak, started } = openLocal(
  { teardown: () => {} },
  { onProgress: () => process.stdout.write(`${JSON.stringify(started)}\n`) },
)
await speak('Hello.')
await transcribe(longRecording(1000))
