/** Live recognition over wss /v3/ws. The vendor sends `Begin`, then turns, and `Termination` after our `Terminate`. */
import type { SttStreamRequest } from '../../domain/ports/stt.ts'
import { detectedLanguage, vendorTag } from '../vendors/language-tags.ts'
import { protocolError } from '../wire/failures.ts'
import { type JsonObject, objectsOf } from '../wire/json.ts'
import type { LiveSttProtocol, LiveSttVendor, ProtocolStream } from '../wire/live-stt.ts'
import { type Piece, Utterances } from '../wire/utterances.ts'
import { Chunks } from './stt-live-chunks.ts'
import { classOfCode } from './wire.ts'

export const liveVendor = (request: SttStreamRequest): LiveSttVendor => ({
  path: livePath(request),
  protocol: (stream) => new TurnProtocol(request, stream),
})

/** Returns the path. The whole configuration is in the query. */
export function livePath(request: SttStreamRequest): string {
  const { model, audio, language, endpointingMs, keywords, prompt } = request
  const query = new URLSearchParams({
    speech_model: model,
    sample_rate: String(audio.sampleRateHz),
    encoding: audio.encoding === 'mulaw' ? 'pcm_mulaw' : 'pcm_s16le',
  })
  if (asksForFormat(model)) query.set('format_turns', 'true')
  // Only the newest model accepts a language. All other models detect the language.
  if (language !== undefined && model === 'universal-3-5-pro')
    query.set('language_codes', JSON.stringify([vendorTag('assemblyai', language)]))
  else if (language === undefined && !model.endsWith('-english')) query.set('language_detection', 'true')
  if (endpointingMs !== undefined) {
    query.set('min_turn_silence', String(endpointingMs))
    query.set('max_turn_silence', String(endpointingMs))
  }
  if (keywords?.length) query.set('keyterms_prompt', JSON.stringify(keywords))
  if (prompt !== undefined) query.set('prompt', prompt)
  return `/v3/ws?${query.toString()}`
}

/** True for models that send each turn twice, first without punctuation. Other models punctuate at once. */
const asksForFormat = (model: string) => model.startsWith('universal-streaming-')

class TurnProtocol implements LiveSttProtocol {
  readonly classOfClose = classOfCode
  readonly #stream: ProtocolStream
  readonly #utterances: Utterances
  readonly #chunks: Chunks
  readonly #formats: boolean
  /** The last finished turn's number. Later frames for this turn are duplicates. */
  #finishedTurn = -1
  /** The number of an ended turn, while its formatted version has not arrived yet. */
  #unformattedTurn: number | null = null
  /**
   * Milliseconds of silence that we have sent in addition to the client's audio: in total, and before the current turn.
   */
  #addedMs = 0
  #shiftMs = 0

  constructor(request: SttStreamRequest, stream: ProtocolStream) {
    this.#formats = asksForFormat(request.model)
    this.#stream = stream
    this.#utterances = new Utterances(request, stream)
    this.#chunks = new Chunks(request.audio, (chunk) => stream.send(chunk))
  }

  audio(bytes: Uint8Array): null {
    this.#chunks.push(bytes)
    return null
  }

  flush(): string {
    this.#addedMs += this.#chunks.flush()
    return '{"type":"ForceEndpoint"}'
  }

  end(): string {
    this.#chunks.flush()
    return '{"type":"Terminate"}'
  }

  frame(frame: JsonObject): void {
    switch (frame['type']) {
      case 'Begin':
        return this.#stream.ready()
      case 'SpeechStarted':
        return this.#speechStarted(frame['timestamp'])
      case 'Turn':
        return this.#turn(frame)
      case 'Termination':
        return this.#termination(frame['session_duration_seconds'])
      case 'Error':
        return this.#stream.fail(classOfCode(frame['error_code']) ?? 'server', frame)
    }
  }

  #speechStarted(timestamp: unknown): void {
    if (typeof timestamp === 'number') this.#utterances.started(this.#timeOf(timestamp))
  }

  #turn(frame: JsonObject): void {
    const { turn_order: turn, transcript, words, end_of_turn: isEnd, turn_is_formatted: isFormatted } = frame
    if (typeof turn !== 'number' || typeof transcript !== 'string') throw protocolError('a turn without its transcript')
    if (this.#unformattedTurn !== null && turn > this.#unformattedTurn) this.#finishTurn(this.#unformattedTurn)
    if (turn <= this.#finishedTurn) return
    const pieces = this.#piecesOf(transcript, words, frame['language_code'])
    if (isEnd !== true) return this.#utterances.setInterim(pieces)
    if (this.#formats && isFormatted !== true) {
      this.#unformattedTurn = turn
      return this.#utterances.setInterim(pieces)
    }
    this.#utterances.addFixed(pieces)
    this.#finishTurn(turn)
  }

  #finishTurn(turn: number): void {
    this.#finishedTurn = turn
    this.#unformattedTurn = null
    this.#shiftMs = this.#addedMs
    this.#utterances.finish()
  }

  /** Ends the stream with the billed time. The vendor bills the session's duration and not the audio's. */
  #termination(sessionS: unknown): void {
    this.#utterances.finish()
    this.#stream.finished(typeof sessionS === 'number' ? Math.round(sessionS * 1000) : undefined)
  }

  /**
   * Cuts the transcript into one piece per word. The vendor's word list has times but no spaces; the transcript has the
   * spaces. If a word is not in the transcript yet, the word is appended.
   */
  #piecesOf(transcript: string, words: unknown, code: unknown): Piece[] {
    const language = detectedLanguage(code)
    const pieces: Piece[] = []
    let at = 0
    for (const { text, start, end, confidence } of objectsOf(words)) {
      if (typeof text !== 'string' || typeof start !== 'number' || typeof end !== 'number')
        throw protocolError('a word without its time')
      const index = transcript.indexOf(text, at)
      pieces.push({
        text: index < 0 ? ` ${text}` : transcript.slice(at, index + text.length),
        joins: false,
        startMs: this.#timeOf(start),
        endMs: this.#timeOf(end),
        ...(typeof confidence === 'number' && { confidence }),
        ...language,
      })
      if (index >= 0) at = index + text.length
    }
    return pieces
  }

  #timeOf(ms: number): number {
    return Math.max(0, ms - this.#shiftMs)
  }
}
