/**
 * WS /v1/speech-to-text/realtime (Scribe): we send base64 audio in JSON, and receive an utterance's whole text. The
 * vendor commits an utterance when it detects silence, or when we send a commit. No frame marks the stream's end, so
 * our last message is a commit, and the stream is over in two cases:
 *
 *   - All speech has been committed, and `crossingMs` has passed: if the vendor committed at the same time as we did,
 *     two transcripts arrive.
 *   - There was no speech, and no transcript has arrived within `noSpeechMs`.
 */
import { bytesPerMs, silenceByte } from '../../audio/pcm.ts'
import type { StreamAudio, SttStreamRequest, Word } from '../../domain/ports/stt.ts'
import { canonicalTag } from '../vendors/language-tags.ts'
import { classOfCloseCode, protocolError } from '../wire/failures.ts'
import { type JsonObject, stringAt } from '../wire/json.ts'
import type { LiveSttProtocol, LiveSttVendor, ProtocolStream } from '../wire/live-stt.ts'
import type { WarmRules } from '../wire/socket.ts'
import { keyterms, realtimeKeyterms } from './keyterms.ts'
import { wordsOf } from './stt.ts'
import { classOfSocketCode } from './wire.ts'

/** The vendor ends a session without audio after about 10 s, and accepts no keep-alive before the first audio. */
export const warmStt: WarmRules = { keepAlive: null, idleMsMax: 7000 }

/**
 * How long to wait for a second transcript, in case the vendor committed at the same time as we did. The vendor needs
 * about 0.4 s for a commit's transcript.
 */
const crossingMs = 500
/** How long a transcript waits for its words, because the vendor sends the words in a separate message. */
const wordsMs = 1000
/** A stream without an interim transcript waits this long at its end. Most likely there is no speech to commit. */
const noSpeechMs = 5000
/** If the client sends no audio, this much silence is sent instead, so the vendor does not end the session. */
const silenceMs = 100
const keepAliveMs = 3000
/**
 * The maximum length of audio in a message. The vendor limits a message's length, but reports a violation too late to
 * repeat the message.
 */
const chunkMsMax = 1000

const empty = new Uint8Array(0)

export const liveVendor = (request: SttStreamRequest): LiveSttVendor => {
  const bytesInMs = bytesPerMs({ ...request.audio, encoding: sampleEncoding(request.audio) })
  const silence = new Uint8Array(silenceMs * bytesInMs).fill(silenceByte(sampleEncoding(request.audio)))
  return {
    path: realtimePath(request),
    keepAlive: { text: chunk(silence, false, request.audio), everyMs: keepAliveMs },
    // Base64 needs four bytes for three bytes.
    bytesInPerSent: 3 / 4,
    protocol: (stream) => new ScribeProtocol(request, stream, bytesInMs),
  }
}

/** Throws ProviderError `unsupported` for keywords beyond the vendor's limits. */
function realtimePath({ model, audio, language, endpointingMs, words, keywords }: SttStreamRequest): string {
  const query = new URLSearchParams({
    model_id: model,
    audio_format: `${audio.encoding === 'mulaw' ? 'ulaw' : 'pcm'}_${audio.sampleRateHz}`,
    commit_strategy: 'vad',
    include_timestamps: String(words),
  })
  if (language !== undefined) query.set('language_code', language)
  // The vendor sends the language only together with timestamps.
  else if (words) query.set('include_language_detection', 'true')
  if (endpointingMs !== undefined) query.set('vad_silence_threshold_secs', String(silenceS(endpointingMs)))
  for (const keyword of keyterms(keywords, realtimeKeyterms)) query.append('keyterms', keyword)
  return `/v1/speech-to-text/realtime?${query.toString()}`
}

/** Converts the end-point silence to seconds. The vendor refuses less than 0.3 and more than 3 seconds. */
const silenceS = (ms: number) => Math.min(3, Math.max(0.3, ms / 1000))

class ScribeProtocol implements LiveSttProtocol {
  /** The vendor uses close code 1008 both for idleness and for missing credit, so 1008 has no error class. */
  readonly classOfClose = classOfCloseCode
  readonly #request: SttStreamRequest
  readonly #stream: ProtocolStream
  readonly #bytesPerMs: number
  #sentAtMs = 0
  #utterance = 0
  /** The earliest possible start of the utterance. */
  #startMs = 0
  /** The newest interim text. Empty if there was no speech since the last commit. */
  #interim = ''
  /** A committed text that waits for its words. */
  #pendingText: string | null = null
  /** A committed text reported without its words. If the words arrive later, the text is not reported again. */
  #sentWithoutWords: string | null = null
  #isEnding = false
  /** True if the vendor has answered our last commit. */
  #isAnswered = false
  #stopFinishing: () => void = () => {}
  #stopHolding: () => void = () => {}

  constructor(request: SttStreamRequest, stream: ProtocolStream, bytesPerMs: number) {
    this.#request = request
    this.#stream = stream
    this.#bytesPerMs = bytesPerMs
  }

  audio(bytes: Uint8Array): string {
    this.#sentAtMs = this.#stream.clock.monotonicMs()
    const step = chunkMsMax * this.#bytesPerMs
    let at = 0
    for (; at + step < bytes.length; at += step)
      this.#stream.send(chunk(bytes.subarray(at, at + step), false, this.#request.audio))
    return chunk(at === 0 ? bytes : bytes.subarray(at), false, this.#request.audio)
  }

  flush(): string {
    this.#sentAtMs = this.#stream.clock.monotonicMs()
    return chunk(empty, true, this.#request.audio)
  }

  end(): string {
    this.#isEnding = true
    if (this.#interim === '') this.#finishAfter(noSpeechMs)
    return chunk(empty, true, this.#request.audio)
  }

  /** Returns true if a keep-alive is due. A commit counts like audio here. */
  isIdle(): boolean {
    return this.#stream.clock.monotonicMs() - this.#sentAtMs >= keepAliveMs
  }

  over(): void {
    this.#stopFinishing()
    this.#stopHolding()
  }

  frame(frame: JsonObject): void {
    const type = frame['message_type']
    switch (type) {
      case 'session_started':
        return this.#stream.ready()
      case 'partial_transcript':
        return this.#partialTranscript(stringAt(frame, 'text').trim())
      case 'committed_transcript':
        return this.#committedTranscript(stringAt(frame, 'text').trim())
      case 'committed_transcript_with_timestamps':
        return this.#committedWithTimestamps(frame)
      case 'commit_throttled':
        return this.#commitThrottled()
    }
    if (typeof type !== 'string') throw protocolError('a message without its type')
    // A stream that ends without speech is not a failure.
    if (type === 'insufficient_audio_activity' && this.#isEnding && this.#interim === '') return this.#finish()
    if (frame['error'] !== undefined) this.#stream.fail(classOfSocketCode(type), frame)
  }

  /** Handles the socket's close. When all speech is committed, the vendor may close before us. */
  closed(): void {
    this.#release()
    if (this.#isAnswered && this.#interim === '') this.#finish()
  }

  #partialTranscript(text: string): void {
    this.#release()
    if (text === '' || text === this.#interim) return
    if (this.#interim === '') this.#stream.speechStarted(this.#startMs)
    this.#interim = text
    // The stream contains speech after all, so its end must wait for the final transcript.
    this.#stopFinishing()
    if (this.#request.interimResults) this.#report(text, false, [])
  }

  #committedTranscript(text: string): void {
    this.#release()
    if (!this.#request.words || text === '') return this.#final(text, [])
    this.#pendingText = text
    this.#stopHolding = this.#stream.clock.after(wordsMs, () => this.#release())
  }

  /** Handles `committed_transcript_with_timestamps`: the committed transcript again, with the requested words. */
  #committedWithTimestamps(frame: JsonObject): void {
    const text = stringAt(frame, 'text').trim()
    if (!this.#request.words || text === this.#sentWithoutWords) return
    this.#stopHolding()
    this.#pendingText = null
    const words = wordsOf(frame['words']).map((word) => this.#withoutSilence(word))
    this.#final(text, words, canonicalTag(frame['language_code']))
  }

  #release(): void {
    this.#stopHolding()
    const text = this.#pendingText
    this.#pendingText = null
    if (text !== null) this.#final(text, [])
    this.#sentWithoutWords = text
  }

  #final(text: string, words: readonly Word[], language?: string): void {
    if (text !== '') {
      if (this.#interim === '') this.#stream.speechStarted(words[0]?.startMs ?? this.#startMs)
      this.#report(text, true, words, language)
      this.#utterance++
      this.#startMs = words.at(-1)?.endMs ?? this.#sentMs
    }
    this.#interim = ''
    if (!this.#isEnding) return
    this.#isAnswered = true
    this.#finishAfter(crossingMs)
  }

  /**
   * Handles `commit_throttled`: too little audio came since the last commit. At the stream's end, at most one
   * transcript can then still arrive.
   */
  #commitThrottled(): void {
    this.#isAnswered = this.#isEnding
    if (this.#isEnding && this.#interim === '') this.#finishAfter(crossingMs)
  }

  #report(text: string, isFinal: boolean, words: readonly Word[], language?: string): void {
    const startMs = words[0]?.startMs ?? this.#startMs
    this.#stream.transcript({
      utterance: this.#utterance,
      text,
      isFinal,
      speechFinal: isFinal,
      startMs,
      endMs: words.at(-1)?.endMs ?? Math.max(startMs, this.#sentMs),
      ...(language !== undefined && { language }),
      ...(isFinal && this.#request.words && { words }),
    })
  }

  get #sentMs(): number {
    return Math.round(this.#stream.audioBytes / this.#bytesPerMs)
  }

  /**
   * Subtracts the silence sent as keep-alive from the vendor's times. This silence is before or after an utterance's
   * words, never between them.
   */
  #withoutSilence(word: Word): Word {
    const addedMs = this.#stream.keepAlives * silenceMs
    const shift = (ms: number) => Math.max(0, ms - addedMs)
    return { ...word, startMs: shift(word.startMs), endMs: shift(word.endMs) }
  }

  #finishAfter(ms: number): void {
    this.#stopFinishing()
    if (this.#stream.isOver) return
    this.#stopFinishing = this.#stream.clock.after(ms, () => this.#finish())
  }

  #finish(): void {
    this.#release()
    this.#stream.finished()
  }
}

/**
 * Builds the message without JSON.stringify, because there are fifty messages a second and the values need no escaping.
 */
function chunk(bytes: Uint8Array, commit: boolean, { sampleRateHz }: StreamAudio): string {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return `{"message_type":"input_audio_chunk","audio_base_64":"${base64}","commit":${commit},"sample_rate":${sampleRateHz}}`
}

/** Returns the vendor's name for the encoding. The catalog row allows only these two encodings. */
const sampleEncoding = ({ encoding }: StreamAudio) => (encoding === 'mulaw' ? 'mulaw' : 'pcm_s16le')
