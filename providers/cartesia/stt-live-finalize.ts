/**
 * WS /stt/websocket: text comes in pieces that do not change any more, spaces included, and in guesses of the next piece. A piece that comes by itself
 * was ended by silence. After `finalize` there may be several, up to `flush_done`, and after `close` up to `done`.
 */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { SttStream, SttStreamRequest, Word } from '../../domain/speech/stt.ts'
import { canonicalTag, vendorTag } from '../language-tags.ts'
import { type JsonObject, milliseconds, stringAt } from '../wire/json.ts'
import { SttSocket, type SttSocketParts, type SttVendor } from '../wire/live-stt.ts'
import { type Piece, Utterances } from '../wire/utterances.ts'
import { readWords } from './stt.ts'
import { bytesPerMs, listenQuery, sampleAudio } from './stt-live-query.ts'
import { classOfClose, classOfFrame } from './wire.ts'

/** Path and query. Throws ProviderError `unsupported`. */
export function finalizingPath(request: SttStreamRequest): string {
  const query = listenQuery(request, sampleAudio(request.audio))
  if (request.language !== undefined) query.set('language', vendorTag('cartesia', request.language))
  if (request.endpointingMs !== undefined) query.set('max_silence_duration_secs', String(request.endpointingMs / 1000))
  return `/stt/websocket?${query.toString()}`
}

export class FinalizingStream implements SttStream, SttVendor {
  readonly #socket: SttSocket
  readonly #utterances: Utterances
  readonly #bytesPerMs: number
  #bytes = 0
  /** Where the last settled piece ended. */
  #settledMs = 0
  /** `finalize` that are not acknowledged yet. */
  #flushes = 0

  constructor(request: SttStreamRequest, parts: SttSocketParts) {
    this.#bytesPerMs = bytesPerMs(sampleAudio(request.audio))
    this.#socket = new SttSocket(parts, this)
    this.#utterances = new Utterances(request, this.#socket.telling)
    // Nothing is said before there is text. A refusal that no upgrade told comes in a frame.
    this.#socket.listens()
  }

  get opened(): Promise<void> {
    return this.#socket.opened
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes
  }

  audio(bytes: Uint8Array): void {
    if (!this.#socket.isListening || bytes.length === 0) return
    this.#bytes += bytes.length
    this.#socket.send(bytes)
  }

  flush(): void {
    if (!this.#socket.isListening) return
    this.#flushes++
    this.#socket.send('finalize')
  }

  end(): void {
    this.#socket.end('close')
  }

  close(): void {
    this.#socket.close()
  }

  frame(frame: JsonObject): void {
    switch (frame['type']) {
      case 'transcript':
        return this.#hear(frame)
      case 'flush_done':
        this.#flushes = Math.max(0, this.#flushes - 1)
        return this.#utterances.end()
      case 'done':
        this.#utterances.finish()
        return this.#socket.finished()
      case 'error':
        return this.#socket.fail(classOfFrame(frame), frame)
    }
  }

  classOfClose(code: number): ErrorClass | null {
    return classOfClose(code)
  }

  #hear(frame: JsonObject): void {
    const pieces = this.#piecesOf(frame, stringAt(frame, 'text'))
    if (frame['is_final'] !== true) return this.#utterances.guess(pieces)
    this.#settledMs = pieces.at(-1)?.endMs ?? this.#settledMs
    this.#utterances.settle(pieces)
    if (this.#flushes === 0 && this.#socket.isListening) this.#utterances.end()
  }

  #piecesOf({ duration, words, language }: JsonObject, text: string): Piece[] {
    const heardMs = Math.max(this.#settledMs, Math.round(this.#bytes / this.#bytesPerMs))
    const durationMs = typeof duration === 'number' ? milliseconds(duration) : heardMs
    const startMs = Math.max(this.#settledMs, heardMs - durationMs)
    const tag = canonicalTag(language)
    return cut(text, readWords(words), { startMs, endMs: heardMs }).map((piece) => ({
      ...piece,
      ...(tag !== undefined && { language: tag }),
    }))
  }
}

/** The text as it stands, cut before each of its words; in one where words were not told, or are others than those of the text. */
function cut(text: string, words: readonly Word[], whole: { startMs: number; endMs: number }): Piece[] {
  if (text === '') return []
  const pieces: Piece[] = []
  let at = 0
  for (const [i, word] of words.entries()) {
    const found = text.indexOf(word.text, at)
    if (found < 0) return [{ text, joins: false, ...whole }]
    const end = i === words.length - 1 ? text.length : found + word.text.length
    pieces.push({ text: text.slice(at, end), joins: false, startMs: word.startMs, endMs: word.endMs })
    at = end
  }
  return pieces.length > 0 ? pieces : [{ text, joins: false, ...whole }]
}
