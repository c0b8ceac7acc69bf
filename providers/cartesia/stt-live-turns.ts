/**
 * WS /stt/turns/websocket: turns, each told as a whole again and again until it ends. The vendor alone ends them, so an utterance that is to end now is
 * followed by silence, with the longest that a turn may have of it set to the least. Nothing has times: what was sent when something is told is the
 * nearest to them. After `close` what is left is told, and the vendor closes the socket.
 */
import { frameBytes } from '../../audio/pcm.ts'
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { SttStream, SttStreamRequest } from '../../domain/speech/stt.ts'
import { type JsonObject, stringAt } from '../wire/json.ts'
import { SttSocket, type SttSocketParts, type SttVendor } from '../wire/live-stt.ts'
import { bytesPerMs, listenQuery, type SampleAudio, sampleAudio } from './stt-live-query.ts'
import { classOfClose, classOfFrame } from './wire.ts'

/** The silence after which a turn is over, whatever the model thinks: the vendor's range and its own. */
const timeoutMs = { min: 640, max: 11_200, usual: 5600 }
/** More than the least, so that no rounding of it keeps a turn open. */
const flushSilenceMs = 800

/** Path and query. Throws ProviderError `unsupported`. */
export function turnsPath(request: SttStreamRequest): string {
  const query = listenQuery(request, sampleAudio(request.audio))
  if (request.endpointingMs !== undefined) query.set('turn_end_timeout_ms', String(endTimeoutMs(request)))
  return `/stt/turns/websocket?${query.toString()}`
}

export class TurnsStream implements SttStream, SttVendor {
  readonly #request: SttStreamRequest
  readonly #audio: SampleAudio
  readonly #bytesPerMs: number
  readonly #socket: SttSocket
  /** Of the caller's. */
  #bytes = 0
  #utterance = 0
  #startMs: number | null = null
  /** The last word on the turn that is open. */
  #text = ''
  #isFlushing = false

  constructor(request: SttStreamRequest, parts: SttSocketParts) {
    this.#request = request
    this.#audio = sampleAudio(request.audio)
    this.#bytesPerMs = bytesPerMs(this.#audio)
    this.#socket = new SttSocket(parts, this)
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
    this.#isFlushing = true
    this.#endTurnsAfter(timeoutMs.min)
    this.#socket.send(silence(this.#audio, flushSilenceMs))
  }

  end(): void {
    this.#socket.end('{"type":"close"}')
  }

  close(): void {
    this.#socket.close()
  }

  frame(frame: JsonObject): void {
    switch (frame['type']) {
      case 'connected':
        return this.#socket.listens()
      case 'turn.start':
        return this.#start()
      case 'turn.update':
      case 'turn.eager_end':
        return this.#update(stringAt(frame, 'transcript'))
      case 'turn.end':
        return this.#end(stringAt(frame, 'transcript'))
      case 'error':
        return this.#socket.fail(classOfFrame(frame), frame)
    }
  }

  /** An orderly close is the terminal mark, once it was asked for. A turn that no event has ended is over then. */
  closed(code: number): void {
    if (this.#socket.isListening || !isOrderly(code)) return
    this.#end(this.#text)
    this.#socket.finished()
  }

  classOfClose(code: number): ErrorClass | null {
    return classOfClose(code)
  }

  #start(): void {
    this.#startMs = this.#sentMs
    this.#socket.telling.speechStarted(this.#startMs)
  }

  /** What the turn is told as is added to and never changed. */
  #update(text: string): void {
    if (text === this.#text) return
    this.#text = text
    if (this.#request.interimResults) this.#tell(false)
  }

  #end(text: string): void {
    this.#text = text
    this.#tell(true)
    this.#text = ''
    this.#startMs = null
    if (this.#isFlushing) this.#endTurnsAfter(endTimeoutMs(this.#request))
    this.#isFlushing = false
  }

  /** A turn in which nothing was said makes no utterance. */
  #tell(isFinal: boolean): void {
    const text = this.#text.trim()
    if (text === '') return
    const { language } = this.#request
    const endMs = this.#sentMs
    this.#socket.telling.transcript({
      utterance: isFinal ? this.#utterance++ : this.#utterance,
      text,
      isFinal,
      speechFinal: isFinal,
      startMs: this.#startMs ?? endMs,
      endMs,
      ...(language !== undefined && { language }),
    })
  }

  get #sentMs(): number {
    return Math.round(this.#bytes / this.#bytesPerMs)
  }

  #endTurnsAfter(end_timeout_ms: number): void {
    this.#socket.send(JSON.stringify({ type: 'config', turn: { end_timeout_ms } }))
  }
}

const endTimeoutMs = ({ endpointingMs = timeoutMs.usual }: SttStreamRequest): number =>
  Math.min(timeoutMs.max, Math.max(timeoutMs.min, Math.round(endpointingMs)))

/** 1005: without a code. */
const isOrderly = (code: number): boolean => code === 1000 || code === 1005

/** Zero of mu-law is 0xff, that of A-law 0xd5 (G.711 tables 1a and 2a). */
function silence(audio: SampleAudio, ms: number): Uint8Array {
  const bytes = Math.ceil((audio.sampleRateHz * ms) / 1000) * frameBytes(audio)
  return new Uint8Array(bytes).fill(audio.encoding === 'mulaw' ? 0xff : audio.encoding === 'alaw' ? 0xd5 : 0)
}
