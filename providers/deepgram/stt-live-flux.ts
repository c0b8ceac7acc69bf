/**
 * WS /v2/listen (Flux): the vendor sends a turn's whole text again and again until the turn ends. No frame marks the
 * stream's end, only a normal close. An open turn then gets no further event, so its last text is final.
 */
import type { SttStreamRequest } from '../../domain/ports/stt.ts'
import { vendorTag } from '../vendors/language-tags.ts'
import { protocolError } from '../wire/failures.ts'
import { type JsonObject, milliseconds } from '../wire/json.ts'
import { isOrderlyClose, type LiveSttProtocol, type LiveSttVendor, type ProtocolStream } from '../wire/live-stt.ts'
import { audioQuery } from './stt-live-listen.ts'
import { firstLanguage, wordsOf } from './transcript.ts'
import { classOfClose, classOfFrame } from './wire.ts'

/** After this much silence a turn ends even if the model expects more speech. This is the vendor's range. */
const turnTimeoutMs = { min: 500, max: 60_000 }

export const fluxVendor = (request: SttStreamRequest): LiveSttVendor => ({
  path: `/v2/listen?${fluxQuery(request)}`,
  isReadyAtOnce: true,
  protocol: (stream) => new FluxProtocol(request, stream),
})

class FluxProtocol implements LiveSttProtocol {
  readonly classOfClose = classOfClose
  readonly #request: SttStreamRequest
  readonly #stream: ProtocolStream
  /** The open turn's newest frame. */
  #turn: JsonObject | null = null
  #lastText = ''

  constructor(request: SttStreamRequest, stream: ProtocolStream) {
    this.#request = request
    this.#stream = stream
  }

  flush(): string {
    return '{"type":"ForceEndTurn"}'
  }

  end(): string {
    return '{"type":"CloseStream"}'
  }

  frame(frame: JsonObject): void {
    if (frame['type'] === 'Error') return this.#stream.fail(classOfFrame(frame), frame)
    if (frame['type'] === 'TurnInfo') this.#turnInfo(frame)
  }

  closed(code: number): void {
    if (this.#stream.isStreaming || !isOrderlyClose(code)) return
    if (this.#turn) this.#report(this.#turn, true)
    this.#turn = null
    this.#stream.finished()
  }

  #turnInfo(frame: JsonObject): void {
    if (typeof frame['transcript'] !== 'string' || !Number.isInteger(frame['turn_index']))
      throw protocolError('no turn')
    const isFinal = frame['event'] === 'EndOfTurn'
    if (frame['event'] === 'StartOfTurn') this.#stream.speechStarted(startOf(frame))
    this.#turn = isFinal ? null : frame
    this.#report(frame, isFinal)
  }

  /** Reports the turn's text if it changed. The vendor sends a turn four times a second, mostly unchanged. */
  #report(frame: JsonObject, isFinal: boolean): void {
    const text = (frame['transcript'] as string).trim()
    if (text === '' || (!isFinal && (text === this.#lastText || !this.#request.interimResults))) return
    this.#lastText = isFinal ? '' : text
    const words = wordsOf(frame['words'])
    const language = firstLanguage(frame['languages']) ?? this.#request.language
    this.#stream.transcript({
      utterance: frame['turn_index'] as number,
      text,
      isFinal,
      speechFinal: isFinal,
      startMs: startOf(frame),
      endMs: words.at(-1)?.endMs ?? milliseconds(frame['audio_window_end']),
      ...(language !== undefined && { language }),
      ...(this.#request.words && { words }),
    })
  }
}

function fluxQuery({ model, audio, language, endpointingMs, keywords }: SttStreamRequest): string {
  const list = new URLSearchParams({ model, ...audioQuery(audio) })
  // The English model refuses language hints.
  if (language !== undefined && model === 'flux-general-multi')
    list.set('language_hint', vendorTag('deepgram', language))
  if (endpointingMs !== undefined) {
    const { min, max } = turnTimeoutMs
    list.set('eot_timeout_ms', String(Math.min(max, Math.max(min, endpointingMs))))
  }
  for (const keyword of keywords ?? []) list.append('keyterm', keyword)
  return list.toString()
}

const startOf = (frame: JsonObject): number =>
  wordsOf(frame['words'])[0]?.startMs ?? milliseconds(frame['audio_window_start'])
