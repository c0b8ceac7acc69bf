/** A process that recognizes several streams. */
import { failureOf, leaveWithParent, sendToParent } from '../children/child-jobs.ts'
import { openVad, type Vad } from '../vad/vad.ts'
import { RecognitionQueue } from './recognition-queue.ts'
import { type SpeechModel, speechRateHz } from './speech-model.ts'
import type { FromStreamChild, StreamInput, ToStreamChild } from './stt-live-messages.ts'
import { RecognitionStream } from './stt-live-stream.ts'

/** The audio for the first recognition after the start: one second. */
const warmUpSamples = speechRateHz

export function serveStreams(openModel: () => Promise<SpeechModel>): void {
  const streams = new Streams(openModel)
  leaveWithParent()
  process.on('message', (message: ToStreamChild) => streams.message(message))
}

class Streams {
  readonly #openModel: () => Promise<SpeechModel>
  #models: Promise<[Vad, RecognitionQueue]> | undefined
  readonly #streams = new Map<number, RecognitionStream>()
  /** Streams waiting for the models to load. */
  readonly #opening = new Set<number>()

  constructor(openModel: () => Promise<SpeechModel>) {
    this.#openModel = openModel
  }

  message(message: ToStreamChild): void {
    if (message.type === 'load') this.#preload()
    else if (message.type === 'open') void this.#open(message.id, message.input)
    else if (message.type === 'close') this.#close(message.id)
    else this.#streams.get(message.id)?.take(message)
  }

  async #open(id: number, input: StreamInput): Promise<void> {
    this.#opening.add(id)
    try {
      const [vad, queue] = await (this.#models ??= this.#load())
      if (!this.#opening.has(id)) return
      const stream = new RecognitionStream(input, {
        vad: vad.another(),
        queue,
        send: (message) => send({ ...message, id }),
      })
      this.#streams.set(id, stream)
      send({ type: 'opened', id })
      void stream.run().then(() => this.#streams.delete(id))
    } catch (error) {
      send({ type: 'failed', id, ...failureOf(error) })
    } finally {
      this.#opening.delete(id)
    }
  }

  /** Loads the models early. A failure is ignored here: the first stream loads them again and reports the failure. */
  #preload(): void {
    this.#models ??= this.#load()
    this.#models.catch(() => {})
  }

  #close(id: number): void {
    this.#opening.delete(id)
    this.#streams.get(id)?.close()
    this.#streams.delete(id)
    send({ type: 'closed', id })
  }

  /**
   * Loads the models and makes one recognition, because a process's first recognition takes much longer. After a
   * failure the next stream tries to load them again.
   */
  async #load(): Promise<[Vad, RecognitionQueue]> {
    try {
      const [vad, model] = [await openVad(), await this.#openModel()]
      await model.transcribe(
        new Float32Array(warmUpSamples),
        { requested: null, last: null },
        new AbortController().signal,
      )
      return [vad, new RecognitionQueue(model)]
    } catch (error) {
      this.#models = undefined
      throw error
    }
  }
}

function send(message: FromStreamChild): void {
  sendToParent(message)
}
