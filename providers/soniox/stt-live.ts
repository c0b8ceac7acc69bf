/**
 * Live recognition: we send a configuration, audio, and an empty message at the end. The vendor sends tokens, then
 * `finished`.
 */
import type { SttStreamRequest } from '../../domain/ports/stt.ts'
import { detectedLanguage, vendorTag } from '../vendors/language-tags.ts'
import { protocolError } from '../wire/failures.ts'
import { type JsonObject, objectsOf } from '../wire/json.ts'
import type { LiveSttProtocol, LiveSttVendor, ProtocolStream } from '../wire/live-stt.ts'
import type { WarmRules } from '../wire/socket.ts'
import { type Piece, Utterances } from '../wire/utterances.ts'
import { classOfFrame } from './wire.ts'

/**
 * The first frame starts the request and its billing, so an idle socket costs nothing. An idle socket is kept for half
 * the vendor's idle limit.
 */
export const warmStt: WarmRules = { keepAlive: null, idleMsMax: 10_000 }

/** The vendor closes a stream after 20 s without a frame. */
const keepAlive = { text: '{"type":"keepalive"}', everyMs: 8000 }
/** Special tokens without text: `<end>` means the speaker has stopped, `<fin>` means our `finalize` is done. */
const marks: ReadonlySet<string> = new Set(['<end>', '<fin>'])
/**
 * Matches a token at a word's beginning. Tokens are word parts. A word's first token begins with a space, or its script
 * has no spaces.
 */
const beginsWord = /^[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

export const liveVendor = (request: SttStreamRequest): LiveSttVendor => ({
  path: '/transcribe-websocket',
  start: JSON.stringify(startRequest(request)),
  // The vendor sends no frame before the first audio, so the stream counts as open once the configuration is sent. The
  // vendor may still refuse it later.
  isReadyAtOnce: true,
  keepAlive,
  protocol: (stream) => new TokenProtocol(request, stream),
})

class TokenProtocol implements LiveSttProtocol {
  readonly #stream: ProtocolStream
  readonly #utterances: Utterances
  /** The last token's end time in milliseconds. Tokens without a time do not change it. */
  #endMs = 0

  constructor(request: SttStreamRequest, stream: ProtocolStream) {
    this.#stream = stream
    this.#utterances = new Utterances(request, stream)
  }

  flush(): string {
    return '{"type":"finalize"}'
  }

  end(): string {
    return ''
  }

  /** Returns null, because the vendor reports every failure in a frame before it closes the socket. */
  classOfClose(): null {
    return null
  }

  frame(frame: JsonObject): void {
    const { error_code: code, tokens } = frame
    if (code !== undefined) return this.#stream.fail(classOfFrame(frame), frame)
    if (!Array.isArray(tokens)) throw protocolError('an answer without its tokens')
    this.#tokens(objectsOf(tokens))
    if (frame['finished'] !== true) return
    this.#utterances.finish()
    this.#stream.finished()
  }

  /** Reads one frame's tokens. The vendor sends a final token once, and other tokens again with every frame. */
  #tokens(tokens: readonly JsonObject[]): void {
    let fixed: Piece[] = []
    const interim: Piece[] = []
    for (const token of tokens) {
      const { text } = token
      if (typeof text !== 'string') throw protocolError('a token without its text')
      if (marks.has(text)) {
        this.#utterances.addFixed(fixed)
        this.#utterances.end()
        fixed = []
      } else {
        const pieces = token['is_final'] === true ? fixed : interim
        pieces.push(this.#pieceOf(token, text))
      }
    }
    this.#utterances.addFixed(fixed)
    this.#utterances.setInterim(interim)
  }

  #pieceOf({ start_ms: start, end_ms: end, confidence, language }: JsonObject, text: string): Piece {
    const startMs = typeof start === 'number' ? start : this.#endMs
    const endMs = typeof end === 'number' ? end : startMs
    this.#endMs = endMs
    return {
      text,
      joins: !beginsWord.test(text),
      startMs,
      endMs,
      ...(typeof confidence === 'number' && { confidence }),
      ...detectedLanguage(language),
    }
  }
}

/** The vendor's range for `max_endpoint_delay_ms`, the longest wait for an utterance's end after the last speech. */
const endpointMsMin = 500
const endpointMsMax = 3000

/** Returns the first frame, which holds the whole configuration. */
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
