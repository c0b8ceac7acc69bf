/**
 * WS /v1/listen: the vendor sends each speech segment again and again until it is final. An utterance reaches from one
 * end point to the next and may have several final segments. Sometimes only an empty segment shows that the utterance
 * has ended.
 */
import type { StreamAudio, StreamTranscript, SttStreamRequest } from '../../domain/ports/stt.ts'
import { vendorTag } from '../vendors/language-tags.ts'
import { type JsonObject, milliseconds } from '../wire/json.ts'
import type { LiveSttProtocol, LiveSttVendor, ProtocolStream } from '../wire/live-stt.ts'
import { isEnglish, takesKeyterms } from './models.ts'
import { bestOf, firstLanguage, wordsOf } from './transcript.ts'
import { classOfClose, classOfFrame } from './wire.ts'

/**
 * The vendor closes the socket after ten seconds without audio or a keep-alive. Two keep-alives are at most `2 *
 * everyMs` apart, so the limit is not reached.
 */
const keepAlive = { text: '{"type":"KeepAlive"}', everyMs: 4000 }

export const listenVendor = (request: SttStreamRequest): LiveSttVendor => ({
  path: `/v1/listen?${listenQuery(request)}`,
  isReadyAtOnce: true,
  keepAlive,
  protocol: (stream) => new ListenProtocol(request, stream),
})

class ListenProtocol implements LiveSttProtocol {
  readonly classOfClose = classOfClose
  readonly #request: SttStreamRequest
  readonly #stream: ProtocolStream
  #utterance = 0
  /** True if the utterance has transcripts but has not ended yet. */
  #isUtteranceOpen = false
  #endMs = 0
  /**
   * True if no more audio will be sent, so the last final transcript ends its utterance. Only the next frame shows if a
   * final transcript was the last.
   */
  #isEnding = false
  #pendingFinal: Transcript | null = null

  constructor(request: SttStreamRequest, stream: ProtocolStream) {
    this.#request = request
    this.#stream = stream
  }

  flush(): string {
    return '{"type":"Finalize"}'
  }

  end(): string {
    this.#isEnding = true
    return '{"type":"CloseStream"}'
  }

  frame(frame: JsonObject): void {
    switch (frame['type']) {
      case 'Results':
        return this.#results(frame)
      case 'SpeechStarted':
        return this.#stream.speechStarted(milliseconds(frame['timestamp']))
      case 'Metadata':
        return this.#metadata(frame['duration'])
      case 'Error':
        return this.#stream.fail(classOfFrame(frame), frame)
    }
  }

  #results(frame: JsonObject): void {
    const { text, best } = bestOf(frame['channel'])
    const isFinal = frame['is_final'] === true
    const speechFinal = isFinal && (frame['speech_final'] === true || frame['from_finalize'] === true)
    const isLast = speechFinal && (this.#isUtteranceOpen || this.#pendingFinal !== null)
    if (text === '' && !isLast) return
    if (!isFinal && !this.#request.interimResults) return
    const pending = this.#takePendingFinal()
    if (pending) this.#report(pending)
    const transcript = { ...this.#read(frame, text, best), isFinal, speechFinal }
    if (this.#isEnding && isFinal && !speechFinal) this.#pendingFinal = transcript
    else this.#report(transcript)
  }

  /** Handles `Metadata`, the last frame. If the socket closes without this frame, the stream was cut. */
  #metadata(durationS: unknown): void {
    const nothing = { text: '', isFinal: true, startMs: this.#endMs, endMs: this.#endMs }
    const last = this.#takePendingFinal() ?? (this.#isUtteranceOpen ? nothing : null)
    if (last) this.#report({ ...last, speechFinal: true })
    this.#stream.finished(Number.isFinite(durationS) ? milliseconds(durationS) : undefined)
  }

  #read(frame: JsonObject, text: string, best: JsonObject): Omit<Transcript, 'isFinal' | 'speechFinal'> {
    const words = wordsOf(best['words'])
    const language = firstLanguage(best['languages']) ?? this.#request.language
    return {
      text,
      // A segment includes the silence after the previous segment, so the first word's start is used.
      startMs: words[0]?.startMs ?? milliseconds(frame['start']),
      endMs: words.at(-1)?.endMs ?? milliseconds(endOf(frame)),
      ...(Number.isFinite(best['confidence']) && { confidence: best['confidence'] as number }),
      ...(language !== undefined && { language }),
      ...(this.#request.words && { words }),
    }
  }

  #takePendingFinal(): Transcript | null {
    const pending = this.#pendingFinal
    this.#pendingFinal = null
    return pending
  }

  #report(transcript: Transcript): void {
    const utterance = this.#utterance
    this.#endMs = transcript.endMs
    this.#isUtteranceOpen = !transcript.speechFinal
    if (transcript.speechFinal) this.#utterance++
    this.#stream.transcript({ utterance, ...transcript })
  }
}

type Transcript = Omit<StreamTranscript, 'utterance'>

/** Returns the query fields for raw audio. */
export function audioQuery({ encoding, sampleRateHz }: StreamAudio): Record<string, string> {
  return { encoding: encoding === 'pcm_s16le' ? 'linear16' : encoding, sample_rate: String(sampleRateHz) }
}

function listenQuery(request: SttStreamRequest): string {
  const { model, audio, language, interimResults, endpointingMs, keywords } = request
  const list = new URLSearchParams({ model, ...audioQuery(audio), punctuate: 'true', vad_events: 'true' })
  if (audio.channels > 1) list.set('channels', String(audio.channels))
  if (language !== undefined) list.set('language', vendorTag('deepgram', language))
  // Live audio has no language detection. Instead the language `multi` lets the model recognize several languages.
  else if (!isEnglish(model)) list.set('language', 'multi')
  if (interimResults) list.set('interim_results', 'true')
  if (endpointingMs !== undefined) list.set('endpointing', String(endpointingMs))
  for (const keyword of keywords ?? []) list.append(takesKeyterms(model) ? 'keyterm' : 'keywords', keyword)
  return list.toString()
}

const endOf = ({ start, duration }: JsonObject): number =>
  (Number.isFinite(start) ? (start as number) : 0) + (Number.isFinite(duration) ? (duration as number) : 0)
