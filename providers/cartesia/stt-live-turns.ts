/**
 * WS /stt/turns/websocket: the vendor sends a turn's whole text again and again until the turn ends. Only the vendor
 * can end a turn, so a flush sets the end-of-turn silence to the vendor's minimum and sends more silence than this
 * minimum. Events have no times, so the audio sent so far approximates them. After `close` the vendor sends the rest
 * and closes the socket.
 */
import { bytesPerMs, frameBytes, silenceByte } from '../../audio/pcm.ts'
import type { SttStreamRequest } from '../../domain/ports/stt.ts'
import { classOfCloseCode } from '../wire/failures.ts'
import { type JsonObject, stringAt } from '../wire/json.ts'
import { isOrderlyClose, type LiveSttProtocol, type LiveSttVendor, type ProtocolStream } from '../wire/live-stt.ts'
import { liveQuery, type SampleAudio, sampleAudio } from './stt-live-query.ts'
import { classOfFrame } from './wire.ts'

/**
 * After this much silence a turn ends even if the model expects more speech. These are the vendor's range and default.
 */
const timeoutMs = { min: 640, max: 11_200, usual: 5600 }
/** The silence sent by a flush. It is longer than `timeoutMs.min`, so that rounding cannot keep a turn open. */
const flushSilenceMs = 800

/** Returns the protocol for a request. Throws ProviderError `unsupported` if the vendor cannot serve the request. */
export function turnsVendor(request: SttStreamRequest): LiveSttVendor {
  const audio = sampleAudio(request.audio)
  const query = liveQuery(request, audio)
  if (request.endpointingMs !== undefined) query.set('turn_end_timeout_ms', String(endTimeoutMs(request)))
  return {
    path: `/stt/turns/websocket?${query.toString()}`,
    protocol: (stream) => new TurnsProtocol(request, stream, audio),
  }
}

class TurnsProtocol implements LiveSttProtocol {
  readonly classOfClose = classOfCloseCode
  readonly #request: SttStreamRequest
  readonly #stream: ProtocolStream
  readonly #audio: SampleAudio
  readonly #bytesPerMs: number
  #utterance = 0
  #startMs: number | null = null
  /** The open turn's newest text. */
  #text = ''
  #isFlushing = false

  constructor(request: SttStreamRequest, stream: ProtocolStream, audio: SampleAudio) {
    this.#request = request
    this.#stream = stream
    this.#audio = audio
    this.#bytesPerMs = bytesPerMs(audio)
  }

  flush(): Uint8Array {
    this.#isFlushing = true
    this.#endTurnsAfter(timeoutMs.min)
    return silence(this.#audio, flushSilenceMs)
  }

  end(): string {
    return '{"type":"close"}'
  }

  frame(frame: JsonObject): void {
    switch (frame['type']) {
      case 'connected':
        return this.#stream.ready()
      case 'turn.start':
        return this.#turnStart()
      case 'turn.update':
      case 'turn.eager_end':
        return this.#turnUpdate(stringAt(frame, 'transcript'))
      case 'turn.end':
        return this.#turnEnd(stringAt(frame, 'transcript'))
      case 'error':
        return this.#stream.fail(classOfFrame(frame), frame)
    }
  }

  /**
   * Handles the socket's close. After our `close`, a normal close ends the stream, and also the open turn, if no event
   * has ended the turn.
   */
  closed(code: number): void {
    if (this.#stream.isStreaming || !isOrderlyClose(code)) return
    this.#turnEnd(this.#text)
    this.#stream.finished()
  }

  #turnStart(): void {
    this.#startMs = this.#sentMs
    this.#stream.speechStarted(this.#startMs)
  }

  /** Handles a turn's newer text. The text only grows: an event never changes the beginning. */
  #turnUpdate(text: string): void {
    if (text === this.#text) return
    this.#text = text
    if (this.#request.interimResults) this.#report(false)
  }

  #turnEnd(text: string): void {
    this.#text = text
    this.#report(true)
    this.#text = ''
    this.#startMs = null
    if (this.#isFlushing) this.#endTurnsAfter(endTimeoutMs(this.#request))
    this.#isFlushing = false
  }

  /** Reports the turn's text as a transcript. A turn without text is not reported. */
  #report(isFinal: boolean): void {
    const text = this.#text.trim()
    if (text === '') return
    const { language } = this.#request
    const endMs = this.#sentMs
    this.#stream.transcript({
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
    return Math.round(this.#stream.audioBytes / this.#bytesPerMs)
  }

  #endTurnsAfter(end_timeout_ms: number): void {
    this.#stream.send(JSON.stringify({ type: 'config', turn: { end_timeout_ms } }))
  }
}

const endTimeoutMs = ({ endpointingMs = timeoutMs.usual }: SttStreamRequest): number =>
  Math.min(timeoutMs.max, Math.max(timeoutMs.min, Math.round(endpointingMs)))

function silence(audio: SampleAudio, ms: number): Uint8Array {
  const bytes = Math.ceil((audio.sampleRateHz * ms) / 1000) * frameBytes(audio)
  return new Uint8Array(bytes).fill(silenceByte(audio.encoding))
}
