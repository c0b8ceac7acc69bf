/**
 * WS /stt/websocket: the vendor sends final text pieces, spaces included, and interim versions of the next piece. If a
 * piece arrives without our `finalize`, silence ended it. After `finalize` several pieces can follow, up to
 * `flush_done`; after `close`, up to `done`.
 */
import { bytesPerMs } from '../../audio/pcm.ts'
import type { SttStreamRequest, Word } from '../../domain/ports/stt.ts'
import { canonicalTag, vendorTag } from '../vendors/language-tags.ts'
import { classOfCloseCode } from '../wire/failures.ts'
import { type JsonObject, milliseconds, stringAt } from '../wire/json.ts'
import type { LiveSttProtocol, LiveSttVendor, ProtocolStream } from '../wire/live-stt.ts'
import { type Piece, Utterances } from '../wire/utterances.ts'
import { wordsOf } from './stt.ts'
import { liveQuery, sampleAudio } from './stt-live-query.ts'
import { classOfFrame } from './wire.ts'

/** Returns the protocol for a request. Throws ProviderError `unsupported` if the vendor cannot serve the request. */
export function finalizeVendor(request: SttStreamRequest): LiveSttVendor {
  const audio = sampleAudio(request.audio)
  const query = liveQuery(request, audio)
  if (request.language !== undefined) query.set('language', vendorTag('cartesia', request.language))
  if (request.endpointingMs !== undefined) query.set('max_silence_duration_secs', String(request.endpointingMs / 1000))
  return {
    path: `/stt/websocket?${query.toString()}`,
    // The vendor sends no frame before the first text, so the stream is ready at once. The vendor may refuse the
    // request in the upgrade or in a later frame.
    isReadyAtOnce: true,
    protocol: (stream) => new FinalizeProtocol(request, stream, bytesPerMs(audio)),
  }
}

class FinalizeProtocol implements LiveSttProtocol {
  readonly classOfClose = classOfCloseCode
  readonly #stream: ProtocolStream
  readonly #utterances: Utterances
  readonly #bytesPerMs: number
  /** The last final piece's end time, in milliseconds. */
  #fixedMs = 0
  /** The number of sent `finalize` messages without a `flush_done` yet. */
  #flushes = 0

  constructor(request: SttStreamRequest, stream: ProtocolStream, bytesPerMs: number) {
    this.#stream = stream
    this.#utterances = new Utterances(request, stream)
    this.#bytesPerMs = bytesPerMs
  }

  flush(): string {
    this.#flushes++
    return 'finalize'
  }

  end(): string {
    return 'close'
  }

  frame(frame: JsonObject): void {
    switch (frame['type']) {
      case 'transcript':
        return this.#transcript(frame)
      case 'flush_done':
        this.#flushes = Math.max(0, this.#flushes - 1)
        return this.#utterances.end()
      case 'done':
        this.#utterances.finish()
        return this.#stream.finished()
      case 'error':
        return this.#stream.fail(classOfFrame(frame), frame)
    }
  }

  #transcript(frame: JsonObject): void {
    const pieces = this.#piecesOf(frame, stringAt(frame, 'text'))
    if (frame['is_final'] !== true) return this.#utterances.setInterim(pieces)
    this.#fixedMs = pieces.at(-1)?.endMs ?? this.#fixedMs
    this.#utterances.addFixed(pieces)
    if (this.#flushes === 0 && this.#stream.isStreaming) this.#utterances.end()
  }

  #piecesOf({ duration, words, language }: JsonObject, text: string): Piece[] {
    const sentMs = Math.max(this.#fixedMs, Math.round(this.#stream.audioBytes / this.#bytesPerMs))
    const durationMs = typeof duration === 'number' ? milliseconds(duration) : sentMs
    const startMs = Math.max(this.#fixedMs, sentMs - durationMs)
    const tag = canonicalTag(language)
    return cut(text, wordsOf(words), { startMs, endMs: sentMs }).map((piece) => ({
      ...piece,
      ...(tag !== undefined && { language: tag }),
    }))
  }
}

/**
 * Cuts the text before each word. If there are no words, or the words are not in the text, the text stays one piece.
 */
function cut(text: string, words: readonly Word[], whole: { startMs: number; endMs: number }): Piece[] {
  if (text === '') return []
  const pieces: Piece[] = []
  let at = 0
  for (const [i, word] of words.entries()) {
    const index = text.indexOf(word.text, at)
    if (index < 0) return [{ text, joins: false, ...whole }]
    const end = i === words.length - 1 ? text.length : index + word.text.length
    pieces.push({ text: text.slice(at, end), joins: false, startMs: word.startMs, endMs: word.endMs })
    at = end
  }
  return pieces.length > 0 ? pieces : [{ text, joins: false, ...whole }]
}
