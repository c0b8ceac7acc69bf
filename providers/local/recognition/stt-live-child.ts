/** The entry file for a process that recognizes several streams. Only fork starts it. */
import { failureOf, leaveWithParent, sendToParent } from '../children/child-jobs.ts'
import { openVad, type Vad } from '../vad/vad.ts'
import { openMoonshine } from './moonshine.ts'
import { Recogniser } from './recogniser.ts'
import type { FromStreamChild, StreamInput, ToStreamChild } from './stt-live-messages.ts'
import { RecognitionStream } from './stt-live-stream.ts'

/** The audio for the first recognition after the start: one second, in samples. */
const warmUpSamples = 16_000

let models: Promise<[Vad, Recogniser]> | undefined
const streams = new Map<number, RecognitionStream>()
/** Streams waiting for the models to load. */
const opening = new Set<number>()

leaveWithParent()
process.on('message', (message: ToStreamChild) => {
  if (message.type === 'load') preload()
  else if (message.type === 'open') void open(message.id, message.input)
  else if (message.type === 'close') close(message.id)
  else streams.get(message.id)?.take(message)
})

async function open(id: number, input: StreamInput): Promise<void> {
  opening.add(id)
  try {
    const [vad, recogniser] = await (models ??= load())
    if (!opening.has(id)) return
    const stream = new RecognitionStream(input, {
      vad: vad.another(),
      recogniser,
      send: (message) => send({ ...message, id }),
    })
    streams.set(id, stream)
    send({ type: 'opened', id })
    void stream.run().then(() => streams.delete(id))
  } catch (error) {
    send({ type: 'failed', id, ...failureOf(error) })
  } finally {
    opening.delete(id)
  }
}

/** Loads the models early. A failure is ignored here: the first stream loads them again and reports the failure. */
function preload(): void {
  models ??= load()
  models.catch(() => {})
}

function close(id: number): void {
  opening.delete(id)
  streams.get(id)?.close()
  streams.delete(id)
  send({ type: 'closed', id })
}

/**
 * Loads the models and makes one recognition, because a process's first recognition takes much longer. After a failure
 * the next stream tries to load them again.
 */
async function load(): Promise<[Vad, Recogniser]> {
  try {
    const [vad, moonshine] = [await openVad(), await openMoonshine()]
    await moonshine.transcribe(new Float32Array(warmUpSamples), new AbortController().signal)
    return [vad, new Recogniser(moonshine)]
  } catch (error) {
    models = undefined
    throw error
  }
}

function send(message: FromStreamChild): void {
  sendToParent(message)
}
