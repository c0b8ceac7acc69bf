/** Live recognition over wss /v3/ws: Begin, turns, and Termination after Terminate. */
import type { SttStream, SttStreamRequest } from '../../domain/speech/stt.ts'
import { canonicalTag, vendorTag } from '../language-tags.ts'
import { protocolError } from '../wire/failures.ts'
import { type JsonObject, objectsOf } from '../wire/json.ts'
import { SttSocket, type SttSocketParts, type SttVendor } from '../wire/live-stt.ts'
import { type Piece, Utterances } from '../wire/utterances.ts'
import { Chunks } from './stt-live-chunks.ts'
import { classOfCode } from './wire.ts'

/** Resolves after Begin. */
export async function openStream(request: SttStreamRequest, parts: SttSocketParts): Promise<SttStream> {
  const stream = new TurnStream(request, parts)
  await stream.opened
  return stream
}

/** All of the configuration stands in the query. */
export function streamPath(request: SttStreamRequest): string {
  const { model, audio, language, endpointingMs, keywords, prompt } = request
  const query = new URLSearchParams({
    speech_model: model,
    sample_rate: String(audio.sampleRateHz),
    encoding: audio.encoding === 'mulaw' ? 'pcm_mulaw' : 'pcm_s16le',
  })
  if (asksForFormat(model)) query.set('format_turns', 'true')
  // Only the newest can be told a language; the others hear what they know.
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

/** These tell a turn twice, first without punctuation. The others write it at once. */
const asksForFormat = (model: string) => model.startsWith('universal-streaming-')

class TurnStream implements SttStream, SttVendor {
  readonly #socket: SttSocket
  readonly #utterances: Utterances
  readonly #chunks: Chunks
  readonly #formats: boolean
  /** The last turn that was told to its end: what still comes of it is a duplicate. */
  #toldTurn = -1
  /** It has ended and is not formatted yet. */
  #unformattedTurn: number | null = null
  /** Silence that was sent and is none of the caller's audio: up to now, and before the turn that is heard. */
  #addedMs = 0
  #shiftMs = 0

  constructor(request: SttStreamRequest, parts: SttSocketParts) {
    this.#formats = asksForFormat(request.model)
    this.#socket = new SttSocket(parts, this)
    this.#utterances = new Utterances(request, this.#socket.telling)
    this.#chunks = new Chunks(request.audio, (chunk) => this.#socket.send(chunk))
  }

  get opened(): Promise<void> {
    return this.#socket.opened
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes
  }

  audio(bytes: Uint8Array): void {
    if (this.#socket.isListening) this.#chunks.push(bytes)
  }

  flush(): void {
    if (!this.#socket.isListening) return
    this.#addedMs += this.#chunks.flush()
    this.#socket.send('{"type":"ForceEndpoint"}')
  }

  end(): void {
    if (!this.#socket.isListening) return
    this.#chunks.flush()
    this.#socket.end('{"type":"Terminate"}')
  }

  close(): void {
    this.#socket.close()
  }

  classOfClose = classOfCode

  frame(frame: JsonObject): void {
    switch (frame['type']) {
      case 'Begin':
        return this.#socket.listens()
      case 'SpeechStarted':
        return this.#hearSpeech(frame['timestamp'])
      case 'Turn':
        return this.#hearTurn(frame)
      case 'Termination':
        return this.#terminate(frame['session_duration_seconds'])
      case 'Error':
        return this.#socket.fail(classOfCode(frame['error_code']) ?? 'server', frame)
    }
  }

  #hearSpeech(timestamp: unknown): void {
    if (typeof timestamp === 'number') this.#utterances.started(this.#timeOf(timestamp))
  }

  #hearTurn(frame: JsonObject): void {
    const { turn_order: turn, transcript, words, end_of_turn: isEnd, turn_is_formatted: isFormatted } = frame
    if (typeof turn !== 'number' || typeof transcript !== 'string') throw protocolError('a turn without its transcript')
    if (this.#unformattedTurn !== null && turn > this.#unformattedTurn) this.#finishTurn(this.#unformattedTurn)
    if (turn <= this.#toldTurn) return
    const pieces = this.#piecesOf(transcript, words, frame['language_code'])
    if (isEnd !== true) return this.#utterances.guess(pieces)
    if (this.#formats && isFormatted !== true) {
      this.#unformattedTurn = turn
      return this.#utterances.guess(pieces)
    }
    this.#utterances.settle(pieces)
    this.#finishTurn(turn)
  }

  #finishTurn(turn: number): void {
    this.#toldTurn = turn
    this.#unformattedTurn = null
    this.#shiftMs = this.#addedMs
    this.#utterances.finish()
  }

  /** The session is what is billed, not the audio. */
  #terminate(sessionS: unknown): void {
    this.#utterances.finish()
    this.#socket.finished(typeof sessionS === 'number' ? Math.round(sessionS * 1000) : undefined)
  }

  /** The words carry times and no spaces, the transcript the spaces; a word that is still a guess stands behind it. */
  #piecesOf(transcript: string, words: unknown, code: unknown): Piece[] {
    const heard = canonicalTag(code)
    const language = heard === undefined ? undefined : { language: heard }
    const pieces: Piece[] = []
    let at = 0
    for (const word of objectsOf(words)) {
      const { text, start, end, confidence } = word
      if (typeof text !== 'string' || typeof start !== 'number' || typeof end !== 'number')
        throw protocolError('a word without its time')
      const found = transcript.indexOf(text, at)
      pieces.push({
        text: found < 0 ? ` ${text}` : transcript.slice(at, found + text.length),
        joins: false,
        startMs: this.#timeOf(start),
        endMs: this.#timeOf(end),
        ...(typeof confidence === 'number' && { confidence }),
        ...language,
      })
      if (found >= 0) at = found + text.length
    }
    return pieces
  }

  #timeOf(ms: number): number {
    return Math.max(0, ms - this.#shiftMs)
  }
}
