/**
 * WS /stt/turns/websocket: the vendor sends a turn as a whole, again and again, until it ends. Only the vendor can end
 * a turn, so a flush shortens the end-of-turn silence to the vendor's minimum and sends more silence than that. Events
 * have no times, so the audio sent so far approximates them. After `close` the vendor sends the rest and closes the
 * socket.
 */
import { bytesPerMs, frameBytes, silenceByte } from '../../audio/pcm.ts'
import type { SttStreamRequest } from '../../domain/ports/stt.ts'
import { classOfCloseCode } from '../wire/failures.ts'
import { type JsonObject, stringAt } from '../wire/json.ts'
import { isOrderlyClose, type LiveSttProtocol, type LiveSttVendor, type ProtocolStream } from '../wire/live-stt.ts'
import { liveQuery, type SampleAudio, sampleAudio } from './stt-live-query.ts'
import { classOfFrame } from './wire.ts'

/** After this much silence a turn ends even if the model expects more speech: the vendor's range and its default. */
const timeoutMs = { min: 640, max: 11_200, usual: 5600 }
/** Longer than the minimum, so that rounding cannot keep a turn open. */
const flushSilenceMs = 800

/** Throws ProviderError `unsupported`. */
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
  /** The open turn's last text. */
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
   * Handles the socket's close. After our `close`, an orderly close ends the stream. It also ends a turn if no event
   * has ended it.
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

  /** Handles a turn's newer text. A turn's text only grows, and an event never changes the beginning. */
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

  /** Reports the turn's text. A turn without text makes no utterance. */
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
