/**
 * WS /v1/listen: segments of speech, each told again and again until it is final. An utterance is what lies between two endpoints, and may have
 * several final segments; which of them is the last may show only in an empty one after it.
 */
import type { StreamAudio, StreamTranscript, SttStreamRequest, SttStreamSink } from '../../domain/speech/stt.ts'
import { vendorTag } from '../language-tags.ts'
import { type JsonObject, milliseconds } from '../wire/json.ts'
import { isEnglish, takesKeyterms } from './models.ts'
import type { Dialogue, Terminal } from './stt-live.ts'
import { bestOf, firstLanguage, wordsOf } from './transcript.ts'

export class ListenDialogue implements Dialogue {
  readonly path: string
  readonly flush = '{"type":"Finalize"}'
  readonly keepAlive = '{"type":"KeepAlive"}'
  readonly #request: SttStreamRequest
  readonly #sink: SttStreamSink
  #utterance = 0
  /** Something of the utterance was told, and not yet that it is over. */
  #isTold = false
  #endMs = 0
  /** No more audio comes. The last final is the end of its utterance then, and which one it is shows only in what follows. */
  #isEnding = false
  #held: Said | null = null

  constructor(request: SttStreamRequest, sink: SttStreamSink) {
    this.path = `/v1/listen?${listenQuery(request)}`
    this.#request = request
    this.#sink = sink
  }

  end(): string {
    this.#isEnding = true
    return '{"type":"CloseStream"}'
  }

  hear(frame: JsonObject): Terminal | null {
    if (frame['type'] === 'Results') this.#results(frame)
    else if (frame['type'] === 'SpeechStarted') this.#sink.speechStarted(milliseconds(frame['timestamp'] ?? 0))
    else if (frame['type'] === 'Metadata')
      return Number.isFinite(frame['duration']) ? { billedMs: milliseconds(frame['duration']) } : {}
    return null
  }

  /** Metadata is the mark; a close without it was a cut. */
  endsAt(): boolean {
    return false
  }

  conclude(): void {
    const nothing = { text: '', isFinal: true, startMs: this.#endMs, endMs: this.#endMs }
    const last = this.#takeHeld() ?? (this.#isTold ? nothing : null)
    if (last) this.#tell({ ...last, speechFinal: true })
  }

  #results(frame: JsonObject): void {
    const { text, best } = bestOf(frame['channel'])
    const isFinal = frame['is_final'] === true
    const speechFinal = isFinal && (frame['speech_final'] === true || frame['from_finalize'] === true)
    const isLast = speechFinal && (this.#isTold || this.#held !== null)
    if (text === '' && !isLast) return
    if (!isFinal && !this.#request.interimResults) return
    const held = this.#takeHeld()
    if (held) this.#tell(held)
    const said = this.#said(frame, text, best)
    if (this.#isEnding && isFinal && !speechFinal) this.#held = { ...said, isFinal, speechFinal }
    else this.#tell({ ...said, isFinal, speechFinal })
  }

  #said(frame: JsonObject, text: string, best: JsonObject): Omit<Said, 'isFinal' | 'speechFinal'> {
    const words = wordsOf(best['words'])
    const language = firstLanguage(best['languages']) ?? this.#request.language
    return {
      text,
      // A segment begins where the one before it ended, silence included; its words say where speech is.
      startMs: words[0]?.startMs ?? milliseconds(frame['start'] ?? 0),
      endMs: words.at(-1)?.endMs ?? milliseconds(endOf(frame)),
      ...(Number.isFinite(best['confidence']) && { confidence: best['confidence'] as number }),
      ...(language !== undefined && { language }),
      ...(this.#request.words && { words }),
    }
  }

  #takeHeld(): Said | null {
    const held = this.#held
    this.#held = null
    return held
  }

  #tell(said: Said): void {
    const utterance = this.#utterance
    this.#endMs = said.endMs
    this.#isTold = !said.speechFinal
    if (said.speechFinal) this.#utterance++
    this.#sink.transcript({ utterance, ...said })
  }
}

type Said = Omit<StreamTranscript, 'utterance'>

/** Raw audio in the vendor's names. */
export function audioQuery({ encoding, sampleRateHz }: StreamAudio): Record<string, string> {
  return { encoding: encoding === 'pcm_s16le' ? 'linear16' : encoding, sample_rate: String(sampleRateHz) }
}

function listenQuery(request: SttStreamRequest): string {
  const { model, audio, language, interimResults, endpointingMs, keywords } = request
  const list = new URLSearchParams({ model, ...audioQuery(audio), punctuate: 'true', vad_events: 'true' })
  if (audio.channels > 1) list.set('channels', String(audio.channels))
  if (language !== undefined) list.set('language', vendorTag('deepgram', language))
  // Live audio has no detection; the multilingual model tells the languages apart.
  else if (!isEnglish(model)) list.set('language', 'multi')
  if (interimResults) list.set('interim_results', 'true')
  if (endpointingMs !== undefined) list.set('endpointing', String(endpointingMs))
  for (const keyword of keywords ?? []) list.append(takesKeyterms(model) ? 'keyterm' : 'keywords', keyword)
  return list.toString()
}

const endOf = ({ start, duration }: JsonObject): number =>
  (Number.isFinite(start) ? (start as number) : 0) + (Number.isFinite(duration) ? (duration as number) : 0)
