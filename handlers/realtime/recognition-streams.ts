/**
 * The recognition streams of one transcription socket: the current stream, which gets the client's audio, and ended
 * streams that still complete their items.
 */
import { frameBytes } from '../../audio/pcm.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { TranscribeStream, TranscribeStreamInput, TranscriptionStream } from '../../domain/speech/stream.ts'
import type { SocketContext } from '../../runtime/engine/socket.ts'
import { routingOf } from '../routing.ts'
import type { SocketCaller } from './admit.ts'
import { type ItemSocket, TranscribedItems } from './transcribed-items.ts'
import type { TranscriptionSettings } from './transcription-settings.ts'

/**
 * The silence for endpointing if only the client's commit should end an utterance. It is longer than pauses within an
 * utterance, so a provider does not end the utterance at a pause.
 */
const endpointingMaxMs = 10_000
/**
 * The limit for ended streams that still complete their items, while new audio goes to another stream. Beyond it, the
 * oldest ended stream is dropped.
 */
const endingMax = 2

export type RecognitionStreamsDeps = { transcribe: TranscribeStream; catalog: Catalog }

export class RecognitionStreams {
  readonly #deps: RecognitionStreamsDeps
  readonly #context: SocketContext<SocketCaller>
  readonly #socket: ItemSocket
  /** The streams by their items, oldest first: ending streams, then the current stream. */
  readonly #streams = new Map<TranscribedItems, TranscriptionStream>()
  #current: TranscribedItems | null = null
  #opened = 0
  #hasLeft = false
  /** The bytes sent to the current stream, and the ms of audio in earlier streams. */
  #bytes = 0
  #bytesPerS = 1
  #earlierMs = 0

  constructor(deps: RecognitionStreamsDeps, context: SocketContext<SocketCaller>, socket: ItemSocket) {
    this.#deps = deps
    this.#context = context
    this.#socket = socket
  }

  /** The current stream's items. Null until the next audio opens a stream. */
  get current(): TranscribedItems | null {
    return this.#current
  }

  /** Opens a stream, which is the current stream from now on. Throws if no provider can open the stream. */
  open(settings: TranscriptionSettings): TranscribedItems {
    const items = new TranscribedItems(this.#socket, settings.turns !== null, this.#earlierMs)
    const { encoding, channels, sampleRateHz } = settings.audio
    this.#bytesPerS = frameBytes({ encoding, channels }) * sampleRateHz
    this.#current = items
    this.#opened += 1
    const stream = this.#deps.transcribe(this.inputOf(settings), items)
    // The socket may have closed while the stream was opened.
    if (this.#hasLeft) stream.leave()
    else this.#streams.set(items, stream)
    return items
  }

  /** Sends audio to the current stream. */
  audio(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    if (this.#current) this.#streams.get(this.#current)?.audio(bytes)
  }

  flush(items: TranscribedItems): void {
    this.#streams.get(items)?.flush()
  }

  /** Ends the current stream after its last transcripts. */
  endCurrent(): void {
    const items = this.#current
    if (items === null) return
    this.#forgetCurrent()
    this.#streams.get(items)?.end()
    for (const [oldest, stream] of this.#streams) {
      if (this.#streams.size <= endingMax) return
      this.#streams.delete(oldest)
      oldest.completeAll()
      stream.leave()
    }
  }

  /** Drops the current stream at once. Otherwise a transcript for cleared audio could still arrive. */
  dropCurrent(): void {
    const items = this.#current
    if (items === null) return
    while (items.waitsForCommit) items.complete()
    this.#forgetCurrent()
    this.#streams.get(items)?.leave()
    this.#streams.delete(items)
  }

  /** Removes a stream that has ended or failed. */
  remove(items: TranscribedItems): void {
    this.#streams.delete(items)
    if (items === this.#current) this.#forgetCurrent()
  }

  /** Leaves all streams, because the socket closes. */
  leave(): void {
    this.#hasLeft = true
    this.#current = null
    for (const stream of this.#streams.values()) stream.leave()
    this.#streams.clear()
  }

  /** Returns the domain's input for a stream with these settings. */
  inputOf({ audio, model, language, prompt, keywords, turns }: TranscriptionSettings): TranscribeStreamInput {
    const { caller, channelId, requestId, signal, trace, logFields } = this.#context
    return {
      caller,
      // Each stream is settled as a request, so each stream after the first needs another id.
      requestId: this.#opened <= 1 ? requestId : `${requestId}-${this.#opened}`,
      operation: channelId,
      signal,
      trace,
      logFields,
      routing: routingOf(this.#deps.catalog, 'stt', caller, { ...(model && { model }) }),
      audio,
      interimResults: true,
      words: false,
      replay: false,
      endpointingMs: turns === null ? endpointingMaxMs : turns.silenceMs,
      ...(language && { language }),
      ...(prompt && { prompt }),
      ...(keywords && { keywords }),
    }
  }

  #forgetCurrent(): void {
    this.#earlierMs += (this.#bytes * 1000) / this.#bytesPerS
    this.#bytes = 0
    this.#current = null
  }
}
