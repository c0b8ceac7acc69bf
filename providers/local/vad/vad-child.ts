/** The entry file for a process that finds speech in all live streams of a serving process. Only fork starts it. */
import { leaveWithParent, sendToParent } from '../children/child-jobs.ts'
import { openSession } from '../weights/onnx.ts'
import type { VadBatch } from './vad-messages.ts'
import { VadStreams } from './vad-streams.ts'

leaveWithParent()
const streams = openSession('sileroVad').then((session) => new VadStreams(session))

process.on('message', (batch: VadBatch) => void answer(batch))

/**
 * A failure ends this process as an unhandled rejection, because the model's state may be damaged. The parent then
 * starts another process.
 */
async function answer(batch: VadBatch): Promise<void> {
  sendToParent(await (await streams).answer(batch))
}
