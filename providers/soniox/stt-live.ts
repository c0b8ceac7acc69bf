/** Live recognition: a configuration, audio, and an empty frame; tokens come back, then `finished`. */
import type { Clock } from '../../domain/ports/system.ts'
import type { SttStream, SttStreamRequest } from '../../domain/speech/stt.ts'
import { detectedLanguage, vendorTag } from '../language-tags.ts'
import { protocolError } from '../wire/failures.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import { SttSocket, type SttSocketParts, type SttVendor } from '../wire/live-stt.ts'
import { type Piece, Utterances } from '../wire/utterances.ts'
import { classOfFrame } from './wire.ts'

/** This vendor says nothing before it hears something, so the stream is open when its configuration has gone; a refusal comes later. */
export async function openStream(request: SttStreamRequest, parts: SttSocketParts): Promise<SttStream> {
  const stream = new TokenStream(request, parts)
  stream.start(startRequest(request))
  await stream.opened
  return stream
}

/** A stream that hears nothing for 20 s is closed. */
const keepAliveMs = 8000
/** Tokens that are no text: the speaker has stopped, and what `finalize` asked for is done. */
const marks: ReadonlySet<string> = new Set(['<end>', '<fin>'])
/** Tokens are parts of words; one that begins a word has a space before it, or is written without any. */
const beginsWord = /^[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

class TokenStream implements SttStream, SttVendor {
  readonly #socket: SttSocket
  readonly #utterances: Utterances
  readonly #clock: Clock
  #stopKeeping: () => void
  #isIdle = true
  #heardMs = 0

  constructor(request: SttStreamRequest, parts: SttSocketParts) {
    this.#clock = parts.clock
    this.#stopKeeping = this.#keepAlive()
    this.#socket = new SttSocket(parts, this)
    this.#utterances = new Utterances(request, this.#socket.telling)
  }

  start(message: JsonObject): void {
    this.#socket.send(JSON.stringify(message))
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
    this.#isIdle = false
    this.#socket.send(bytes)
  }

  flush(): void {
    if (this.#socket.isListening) this.#socket.send('{"type":"finalize"}')
  }

  end(): void {
    this.#socket.end('')
  }

  close(): void {
    this.#socket.close()
  }

  over(): void {
    this.#stopKeeping()
  }

  /** Every failure is told in a frame before the close. */
  classOfClose(): null {
    return null
  }

  frame(frame: JsonObject): void {
    const { error_code: code, tokens } = frame
    if (code !== undefined) return this.#socket.fail(classOfFrame(frame), frame)
    if (!Array.isArray(tokens)) throw protocolError('an answer without its tokens')
    this.#hear(tokens.filter(isObject))
    if (frame['finished'] !== true) return
    this.#utterances.finish()
    this.#socket.finished()
  }

  /** Tokens that are final come once; all that are not come again with every frame. */
  #hear(tokens: readonly JsonObject[]): void {
    let settled: Piece[] = []
    const guess: Piece[] = []
    for (const token of tokens) {
      const { text } = token
      if (typeof text !== 'string') throw protocolError('a token without its text')
      if (marks.has(text)) {
        this.#utterances.settle(settled)
        this.#utterances.end()
        settled = []
      } else {
        ;(token['is_final'] === true ? settled : guess).push(this.#pieceOf(token, text))
      }
    }
    this.#utterances.settle(settled)
    this.#utterances.guess(guess)
  }

  #pieceOf({ start_ms: start, end_ms: end, confidence, language }: JsonObject, text: string): Piece {
    const startMs = typeof start === 'number' ? start : this.#heardMs
    const endMs = typeof end === 'number' ? end : startMs
    this.#heardMs = endMs
    return {
      text,
      joins: !beginsWord.test(text),
      startMs,
      endMs,
      ...(typeof confidence === 'number' && { confidence }),
      ...detectedLanguage(language),
    }
  }

  #keepAlive(): () => void {
    return this.#clock.after(keepAliveMs, () => {
      if (this.#isIdle && this.#socket.isListening) this.#socket.send('{"type":"keepalive"}')
      this.#isIdle = true
      this.#stopKeeping = this.#keepAlive()
    })
  }
}

/** The delays that this vendor takes. */
const endpointMsMin = 500
const endpointMsMax = 3000

/** The first frame, which holds all of the configuration. */
export function startRequest(request: SttStreamRequest): JsonObject {
  const { model, audio, language, endpointingMs, keywords, prompt } = request
  return {
    model,
    audio_format: audio.encoding,
    sample_rate: audio.sampleRateHz,
    num_channels: audio.channels,
    enable_endpoint_detection: true,
    ...(endpointingMs !== undefined && {
      max_endpoint_delay_ms: Math.min(Math.max(Math.round(endpointingMs), endpointMsMin), endpointMsMax),
    }),
    ...(language === undefined
      ? { enable_language_identification: true }
      : { language_hints: [vendorTag('soniox', language)], language_hints_strict: true }),
    ...((keywords?.length || prompt !== undefined) && {
      context: { ...(keywords?.length && { terms: keywords }), ...(prompt !== undefined && { text: prompt }) },
    }),
  }
}
