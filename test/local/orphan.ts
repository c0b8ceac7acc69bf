/** Started by children.test.ts: a gateway in the middle of its work, which is then killed. */
import { longRecording, openLocal } from './setup.ts'

const { transcribe, speak, started } = openLocal(
  { teardown: () => {} },
  { onProgress: () => process.stdout.write(`${JSON.stringify(started)}\n`) },
)
await speak('Hello.')
await transcribe(longRecording(1000))
