/**
 * One session of Scribe realtime: base64 in JSON there, the whole text of an utterance back. The vendor commits an utterance when it hears silence, or
 * when it is told to. It acknowledges no end, so the end is a commit, and it is over when
 *
 *   what was said has been committed, and a moment has passed     a commit of its own may have crossed ours: then two are on their way
 *   nothing was said, and nothing comes
 */
import { sampleEncodings } from '../../audio/pcm.ts'
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import type { StreamAudio, SttStream, SttStreamRequest, SttStreamSink, Word } from '../../domain/speech/stt.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'
import { canonicalTag } from '../language-tags.ts'
import { protocolError } from '../wire/failures.ts'
import { type JsonObject, stringAt } from '../wire/json.ts'
import { SttSocket, type SttVendor } from '../wire/live-stt.ts'
import { readWords } from './stt.ts'
import { classOfClose, socketFailure } from './wire.ts'

export type ScribeOptions = { apiKey: string | null; limits: OutboundLimits; clock: Clock }

/** More than the vendor's transcript of a commit takes, which is about 0.4 s. */
const crossingMs = 500
/** How long a transcript waits for its words, which come in a message of their own. */
const wordsMs = 1000
/** Without a partial there is most likely nothing to commit. */
const nothingSaidMs = 5000
/** A caller may be silent in the sense of sending nothing. Then silence is sent for him, this much, each so often. */
const keepAliveMs = 3000
const silenceMs = 100
/** The vendor bounds a message, and says so only when it is too late. */
const chunkMsMax = 1000

export class ScribeStream implements SttStream, SttVendor {
  readonly #socket: SttSocket
  readonly #sink: SttStreamSink
  readonly #request: SttStreamRequest
  readonly #clock: Clock
  readonly #apiKey: string | null
  readonly #bytesPerMs: number
  #bytes = 0
  /** Of silence that the caller did not send, and that counts in the vendor's times. */
  #addedMs = 0
  #sentAtMs = 0
  #utterance = 0
  /** Where the utterance may have begun at the earliest. */
  #startMs = 0
  /** The last partial; none: nothing was said since the last commit. */
  #partial = ''
  /** Committed, while its words are on their way. */
  #held: string | null = null
  /** Told without its words. If they come after all, it is not told again. */
  #bare: string | null = null
  #isOver = false
  #isEnding = false
  /** The commit at the end has had an answer. */
  #isAnswered = false
  #stopKeeping: () => void = () => {}
  #stopFinishing: () => void = () => {}
  #stopHolding: () => void = () => {}

  constructor(
    socket: OutboundSocket,
    request: SttStreamRequest,
    sink: SttStreamSink,
    { apiKey, limits, clock }: ScribeOptions,
    signal: CancelSignal,
  ) {
    this.#sink = sink
    this.#request = request
    this.#clock = clock
    this.#apiKey = apiKey
    this.#bytesPerMs = bytesPerMs(request.audio)
    this.#socket = new SttSocket({ socket, sink, signal, apiKey, clock, limits }, this)
  }

  get opened(): Promise<void> {
    return this.#socket.opened
  }

  /** Base64 takes four bytes for three. */
  get bufferedBytes(): number {
    return Math.floor((this.#socket.bufferedBytes * 3) / 4)
  }

  audio(bytes: Uint8Array): void {
    const step = chunkMsMax * this.#bytesPerMs
    for (let at = 0; at < bytes.length; at += step) this.#send(bytes.subarray(at, at + step), false)
    this.#bytes += bytes.length
  }

  flush(): void {
    this.#send(nothing, true)
  }

  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#stopKeeping()
    this.#socket.end(chunk(nothing, true, this.#request.audio))
    if (this.#partial === '') this.#finishAfter(nothingSaidMs)
  }

  close(): void {
    this.#socket.close()
  }

  over(): void {
    this.#isOver = true
    this.#stopKeeping()
    this.#stopFinishing()
    this.#stopHolding()
  }

  frame(frame: JsonObject): void {
    const type = frame['message_type']
    switch (type) {
      case 'session_started':
        return this.#listens()
      case 'partial_transcript':
        return this.#hear(stringAt(frame, 'text').trim())
      case 'committed_transcript':
        return this.#commit(stringAt(frame, 'text').trim())
      case 'committed_transcript_with_timestamps':
        return this.#commitWithWords(frame)
      case 'commit_throttled':
        return this.#throttled()
    }
    if (typeof type !== 'string') throw protocolError('a message without its type')
    // Nobody spoke, which is no failure where nobody will.
    if (type === 'insufficient_audio_activity' && this.#isEnding && this.#partial === '') return this.#finish()
    if (frame['error'] !== undefined) throw socketFailure(type, frame, this.#apiKey)
  }

  classOfClose(code: number): ErrorClass | null {
    return classOfClose(code)
  }

  /** When everything is committed the vendor may be the one who closes. */
  closed(): void {
    this.#release()
    if (this.#isAnswered && this.#partial === '') this.#finish()
  }

  /** A socket that was opened ahead and had to be replaced greets twice. */
  #listens(): void {
    if (this.#socket.isListening) return
    this.#socket.listens()
    this.#keep()
  }

  #send(bytes: Uint8Array, commit: boolean): void {
    this.#sentAtMs = this.#clock.monotonicMs()
    this.#socket.send(chunk(bytes, commit, this.#request.audio))
  }

  #hear(text: string): void {
    this.#release()
    if (text === '' || text === this.#partial) return
    if (this.#partial === '') this.#sink.speechStarted(this.#startMs)
    this.#partial = text
    // Speech after all: its commit is due.
    this.#stopFinishing()
    if (this.#request.interimResults) this.#tell(text, false, [])
  }

  #commit(text: string): void {
    this.#release()
    if (!this.#request.words || text === '') return this.#final(text, [])
    this.#held = text
    this.#stopHolding = this.#clock.after(wordsMs, () => this.#release())
  }

  /** The same transcript again, with what was asked for. */
  #commitWithWords(frame: JsonObject): void {
    const text = stringAt(frame, 'text').trim()
    if (!this.#request.words || text === this.#bare) return
    this.#stopHolding()
    this.#held = null
    const words = readWords(frame['words']).map((word) => this.#heardAt(word))
    this.#final(text, words, canonicalTag(frame['language_code']))
  }

  #release(): void {
    this.#stopHolding()
    const text = this.#held
    this.#held = null
    if (text !== null) this.#final(text, [])
    this.#bare = text
  }

  #final(text: string, words: readonly Word[], language?: string): void {
    if (text !== '') {
      if (this.#partial === '') this.#sink.speechStarted(words[0]?.startMs ?? this.#startMs)
      this.#tell(text, true, words, language)
      this.#utterance++
      this.#startMs = words.at(-1)?.endMs ?? this.#nowMs
    }
    this.#partial = ''
    if (!this.#isEnding) return
    this.#isAnswered = true
    this.#finishAfter(crossingMs)
  }

  /** Too little audio since the last commit for another: at the end this says that nothing is missing but what may be on its way. */
  #throttled(): void {
    this.#isAnswered = this.#isEnding
    if (this.#isEnding && this.#partial === '') this.#finishAfter(crossingMs)
  }

  #tell(text: string, isFinal: boolean, words: readonly Word[], language?: string): void {
    // Whoever is told may close the stream, and is told nothing more.
    if (this.#isOver) return
    const startMs = words[0]?.startMs ?? this.#startMs
    this.#sink.transcript({
      utterance: this.#utterance,
      text,
      isFinal,
      speechFinal: isFinal,
      startMs,
      endMs: words.at(-1)?.endMs ?? Math.max(startMs, this.#nowMs),
      ...(language !== undefined && { language }),
      ...(isFinal && this.#request.words && { words }),
    })
  }

  get #nowMs(): number {
    return Math.round(this.#bytes / this.#bytesPerMs)
  }

  /** What was added was added after what is being told now, or before all of it. */
  #heardAt(word: Word): Word {
    const shift = (ms: number) => Math.max(0, ms - this.#addedMs)
    return { ...word, startMs: shift(word.startMs), endMs: shift(word.endMs) }
  }

  #finishAfter(ms: number): void {
    this.#stopFinishing()
    if (this.#isOver) return
    this.#stopFinishing = this.#clock.after(ms, () => this.#finish())
  }

  #finish(): void {
    this.#release()
    this.#socket.finished()
  }

  /** One timer looks from time to time whether audio still comes: a frame sets none. */
  #keep(): void {
    this.#stopKeeping = this.#clock.after(keepAliveMs, () => {
      if (!this.#socket.isListening) return
      if (this.#clock.monotonicMs() - this.#sentAtMs >= keepAliveMs) {
        this.#send(silence(this.#request.audio, silenceMs * this.#bytesPerMs), false)
        this.#addedMs += silenceMs
      }
      this.#keep()
    })
  }
}

const nothing = new Uint8Array(0)

/** Put together by hand: a frame comes fifty times a second, and nothing in it needs to be escaped. */
function chunk(bytes: Uint8Array, commit: boolean, { sampleRateHz }: StreamAudio): string {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return `{"message_type":"input_audio_chunk","audio_base_64":"${base64}","commit":${commit},"sample_rate":${sampleRateHz}}`
}

/** Zero of mu-law is 0xff (G.711 table 2a). */
const silence = ({ encoding }: StreamAudio, bytes: number) =>
  new Uint8Array(bytes).fill(encoding === 'mulaw' ? 0xff : 0)

function bytesPerMs({ encoding, sampleRateHz, channels }: StreamAudio): number {
  return (sampleEncodings[encoding === 'mulaw' ? 'mulaw' : 'pcm_s16le'].bytes * channels * sampleRateHz) / 1000
}
