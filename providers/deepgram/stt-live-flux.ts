/**
 * WS /v2/listen (Flux): turns, each told as a whole again and again until it ends. The socket has no mark of its end but an orderly close, and a
 * turn that is still open then gets no event: what was told of it last is final.
 */
import type { SttStreamRequest, SttStreamSink } from '../../domain/speech/stt.ts'
import { vendorTag } from '../language-tags.ts'
import { protocolError } from '../wire/failures.ts'
import { type JsonObject, milliseconds } from '../wire/json.ts'
import type { Dialogue } from './stt-live.ts'
import { audioQuery } from './stt-live-listen.ts'
import { firstLanguage, wordsOf } from './transcript.ts'

/** The range that the vendor takes for the silence after which a turn is over, whatever the model thinks. */
const turnTimeoutMs = { min: 500, max: 60_000 }

export class FluxDialogue implements Dialogue {
  readonly path: string
  readonly flush = '{"type":"ForceEndTurn"}'
  readonly keepAlive = null
  readonly #request: SttStreamRequest
  readonly #sink: SttStreamSink
  /** The last word on the turn that is open. */
  #turn: JsonObject | null = null
  #lastText = ''

  constructor(request: SttStreamRequest, sink: SttStreamSink) {
    this.path = `/v2/listen?${fluxQuery(request)}`
    this.#request = request
    this.#sink = sink
  }

  end(): string {
    return '{"type":"CloseStream"}'
  }

  hear(frame: JsonObject): null {
    if (frame['type'] !== 'TurnInfo') return null
    if (typeof frame['transcript'] !== 'string' || !Number.isInteger(frame['turn_index']))
      throw protocolError('no turn')
    const isFinal = frame['event'] === 'EndOfTurn'
    if (frame['event'] === 'StartOfTurn') this.#sink.speechStarted(startOf(frame))
    this.#turn = isFinal ? null : frame
    this.#tell(frame, isFinal)
    return null
  }

  /** 1005: it closes without a status. */
  endsAt(closeCode: number): boolean {
    return closeCode === 1005 || closeCode === 1000
  }

  conclude(): void {
    if (this.#turn) this.#tell(this.#turn, true)
    this.#turn = null
  }

  /** Four times a second a turn is told, mostly with nothing new in it. */
  #tell(frame: JsonObject, isFinal: boolean): void {
    const text = (frame['transcript'] as string).trim()
    if (text === '' || (!isFinal && (text === this.#lastText || !this.#request.interimResults))) return
    this.#lastText = isFinal ? '' : text
    const words = wordsOf(frame['words'])
    const language = firstLanguage(frame['languages']) ?? this.#request.language
    this.#sink.transcript({
      utterance: frame['turn_index'] as number,
      text,
      isFinal,
      speechFinal: isFinal,
      startMs: startOf(frame),
      endMs: words.at(-1)?.endMs ?? milliseconds(frame['audio_window_end'] ?? 0),
      ...(language !== undefined && { language }),
      ...(this.#request.words && { words }),
    })
  }
}

function fluxQuery({ model, audio, language, endpointingMs, keywords }: SttStreamRequest): string {
  const list = new URLSearchParams({ model, ...audioQuery(audio) })
  // The English model refuses hints.
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
  wordsOf(frame['words'])[0]?.startMs ?? milliseconds(frame['audio_window_start'] ?? 0)
