/**
 * One live stream inside the child process: its audio is decoded, cut at pauses and recognized as it arrives.
 *
 *   audio     ....######.######........######..
 *   interims         ^    ^  ^ settled: the pause is as long as the pad
 *   final                       ^ end point: the pause is as long as requested
 *
 * The pad is the silence kept after a segment's speech (`segmenter.ts`). The interim recognition in a pause as long as
 * the pad has the same samples as the final recognition, so its text becomes the final transcript. The stream holds one
 * open segment and at most one segment waiting for its text (15 s each). It reads no more audio while both exist.
 */
import { setImmediate as eventLoop } from 'node:timers/promises'
import { vadFrameSamples } from '../../../domain/ports/vad.ts'
import { AudioLayout } from '../../../domain/speech/audio-layout.ts'
import { failureOf } from '../children/child-jobs.ts'
import { type Vad } from '../vad/vad.ts'
import { decodeMono } from './decode.ts'
import type { Recognition, RecognitionQueue } from './recognition-queue.ts'
import { frameMs, Segmenter, type SpeechSegment } from './segmenter.ts'
import { type SpeechLanguage, type SpeechText, speechRateHz } from './speech-model.ts'
import type { FromStreamChild, StreamInput } from './stt-live-messages.ts'

/** The first interim transcript needs this much speech: with less speech the model finds hardly any text. */
const firstInterimFrames = Math.round(448 / frameMs)
const interimFramesMin = Math.round(640 / frameMs)
/** If a stream is this far behind its audio, it gets no interim transcripts. */
const behindMs = 500

type Event = { type: 'audio'; bytes: Uint8Array } | { type: 'flush' } | { type: 'end' }
/** A message to the parent before the stream's id is added. The stream itself does not have the id. */
export type StreamMessage = FromStreamChild extends infer Message
  ? Message extends unknown
    ? Omit<Message, 'id'>
    : never
  : never

type Interim = { recognition: Recognition; samples: number }

export class RecognitionStream {
  readonly #input: StreamInput
  readonly #segmenter: Segmenter
  readonly #queue: RecognitionQueue
  readonly #toParent: (message: StreamMessage) => void
  readonly #inbox: Event[] = []
  readonly #layout: AudioLayout
  readonly #behindWeight: number
  #waitingWeight = 0
  #wake = () => {}
  #closed = false
  #isSpeechReported = false
  #interim: Interim | undefined
  #interimDueFrame = 0
  #followedFrames = 0
  /** Unfinished recognitions. */
  readonly #pending = new Set<Recognition>()
  #lastFinal: Promise<void> = Promise.resolve()
  #utterance = 0
  /** True if the utterance has a transcript. Then a last transcript must mark the utterance's end. */
  #isUtteranceOpen = false
  #lastText = ''
  /** The last transcript's language. */
  #sentLanguage = ''
  /** The language of the last final transcript with words. */
  #lastLanguage: string | null = null

  constructor(
    input: StreamInput,
    { vad, queue, send }: { vad: Vad; queue: RecognitionQueue; send: (message: StreamMessage) => void },
  ) {
    this.#input = input
    this.#segmenter = new Segmenter(vad, input.endpointingMs)
    this.#queue = queue
    this.#toParent = send
    this.#layout = new AudioLayout(input.audio)
    this.#behindWeight = (behindMs * this.#layout.bytesPerS) / 1000
  }

  /** Handles events until `end` or `close`. Never rejects: a failure is sent to the parent. */
  async run(): Promise<void> {
    const format = { container: 'raw' as const, ...this.#input.audio }
    try {
      for await (const samples of decodeMono({ format, durationMs: null, pieces: this.#pieces() }, speechRateHz)) {
        await this.#recognize(samples)
      }
      if (this.#closed) return
      for await (const segment of this.#segmenter.end()) await this.#finish(segment)
      this.#endSpeech()
      await this.#lastFinal
      this.#send({ type: 'ended' })
    } catch (error) {
      this.#send({ type: 'failed', ...failureOf(error) })
    }
    this.close()
  }

  take(event: Event): void {
    this.#inbox.push(event)
    if (event.type === 'audio') this.#waitingWeight += this.#layout.weightOf(event.bytes)
    this.#wake()
  }

  close(): void {
    this.#closed = true
    for (const recognition of this.#pending) this.#queue.cancel(recognition)
    this.#inbox.length = 0
    this.#wake()
  }

  /**
   * Yields the audio and handles the other events between two pieces. The reader requests the next piece only after it
   * has handled the piece before, so events keep their order.
   */
  async *#pieces(): AsyncGenerator<Uint8Array> {
    while (!this.#closed) {
      const event = this.#inbox.shift()
      if (event === undefined) await new Promise<void>((resolve) => (this.#wake = resolve))
      else if (event.type === 'end') return
      else if (event.type === 'flush') await this.#flush()
      else {
        yield event.bytes
        const weight = this.#layout.weightOf(event.bytes)
        this.#waitingWeight -= weight
        this.#send({ type: 'taken', weight })
      }
    }
  }

  async #recognize(samples: Float32Array): Promise<void> {
    for (let at = 0; at < samples.length && !this.#closed; at += vadFrameSamples) {
      const wasOpen = this.#segmenter.open
      // Samples are added one frame at a time, so that no segmenter state is missed.
      for await (const segment of this.#segmenter.push(samples.subarray(at, at + vadFrameSamples))) {
        await this.#finish(segment)
      }
      if (wasOpen && !this.#segmenter.open) this.#endSpeech()
      this.#followSpeech()
      // The models compute in this thread, so other streams and the parent's messages must be handled in between.
      await eventLoop()
    }
  }

  /**
   * Handles `flush`. If no word was recognized yet, the segment stays open, because the next audio may complete a word.
   */
  async #flush(): Promise<void> {
    if (!this.#segmenter.open) return this.#endSpeech()
    const segment = this.#segmenter.peek()
    if (segment === undefined) return
    const recognition = this.#recognitionOf(segment)
    this.#planInterim()
    if ((await this.#textOf(recognition))?.text === '') return
    this.#segmenter.close()
    await this.#finish(segment, recognition)
    this.#endSpeech()
  }

  #followSpeech(): void {
    const { speaking, frameCount, startMs } = this.#segmenter
    if (!speaking || frameCount === this.#followedFrames) return
    this.#followedFrames = frameCount
    if (!this.#isSpeechReported) {
      this.#isSpeechReported = true
      this.#interimDueFrame = Math.round(startMs / frameMs) + firstInterimFrames
      this.#send({ type: 'speechStarted', startMs })
    }
    if (this.#waitingWeight <= this.#behindWeight) this.#interimIfDue()
  }

  #interimIfDue(): void {
    const { settled, silentFrames, frameCount } = this.#segmenter
    // A pause gets one interim recognition, when it is as long as the pad, because only this recognition can become the
    // final recognition.
    const due = this.#input.interimResults && silentFrames === 0 && frameCount >= this.#interimDueFrame
    if (!settled && !due) return
    const segment = this.#segmenter.peek()
    if (segment) void this.#makeInterim(segment, frameCount)
  }

  async #makeInterim(segment: SpeechSegment, startFrame: number): Promise<void> {
    this.#dropInterim()
    this.#interimDueFrame = Infinity
    // Uses the real time instead of the given clock, because this measures the speech engine's speed.
    const startedAtMs = performance.now()
    const interim: Interim = {
      recognition: this.#queue.interim(segment.samples, this.#language),
      samples: segment.samples.length,
    }
    this.#interim = interim
    // A failure is ignored here, because the final recognition fails in the same way and reports the failure.
    const result = await this.#textOf(interim.recognition).catch(() => null)
    if (this.#interim !== interim) return
    const stretchedFrames = (performance.now() - startedAtMs) / this.#queue.interimShareMax / frameMs
    this.#interimDueFrame = startFrame + Math.max(interimFramesMin, Math.ceil(stretchedFrames))
    if (result === null) this.#interim = undefined
    else if (this.#input.interimResults && result.text !== '' && result.text !== this.#lastText)
      this.#sendTranscript(result, segment, false)
  }

  /**
   * Starts a final recognition. Its text is sent later, in order. No further audio is read while a second segment waits
   * for its text.
   */
  async #finish(segment: SpeechSegment, recognition = this.#recognitionOf(segment)): Promise<void> {
    await this.#lastFinal
    this.#lastFinal = this.#sendFinal(recognition, segment)
    // Avoids an unhandled rejection: the promise is awaited before the next final transcript is made, but the stream
    // may end before that.
    this.#lastFinal.catch(() => {})
    this.#planInterim()
    if (segment.endpoint) this.#isSpeechReported = false
  }

  #planInterim(): void {
    this.#interimDueFrame = this.#segmenter.frameCount + interimFramesMin
  }

  async #sendFinal(recognition: Recognition, segment: SpeechSegment): Promise<void> {
    let result = await this.#textOf(recognition)
    // The interim recognition was stopped just before it became the final recognition, so the segment is recognized
    // again.
    if (result === null && !this.#closed)
      result = await this.#textOf(this.#queue.final(segment.samples, this.#language))
    if (result === null || (result.text === '' && !(segment.endpoint && this.#isUtteranceOpen))) return
    this.#sendTranscript(result, segment, true)
  }

  /**
   * Returns the final recognition of a segment. If the running interim recognition has exactly these samples, it
   * becomes the final recognition. Otherwise it is dropped.
   */
  #recognitionOf({ samples }: SpeechSegment): Recognition {
    const interim = this.#interim
    this.#interim = undefined
    if (interim?.samples === samples.length) {
      this.#queue.makeFinal(interim.recognition)
      return interim.recognition
    }
    if (interim) this.#queue.cancel(interim.recognition)
    return this.#queue.final(samples, this.#language)
  }

  /** Ends an utterance if no speech followed a forced cut, because then no last segment ends the utterance. */
  #endSpeech(): void {
    this.#dropInterim()
    this.#isSpeechReported = false
    const endMs = Math.round(this.#segmenter.frameCount * frameMs)
    this.#lastFinal = this.#lastFinal.then(() => {
      if (!this.#isUtteranceOpen) return
      this.#sendTranscript({ text: '', language: this.#sentLanguage }, { startMs: endMs, endMs, endpoint: true }, true)
    })
    this.#lastFinal.catch(() => {})
  }

  async #textOf(recognition: Recognition): Promise<SpeechText | null> {
    this.#pending.add(recognition)
    try {
      return await recognition.result
    } finally {
      this.#pending.delete(recognition)
    }
  }

  #sendTranscript(
    { text, language }: SpeechText,
    { startMs, endMs, endpoint }: Pick<SpeechSegment, 'startMs' | 'endMs' | 'endpoint'>,
    isFinal: boolean,
  ): void {
    const speechFinal = isFinal && endpoint
    const transcript = { utterance: this.#utterance, text, isFinal, speechFinal, startMs, endMs, language }
    this.#send({ type: 'transcript', transcript })
    this.#lastText = isFinal ? '' : text
    this.#sentLanguage = language
    if (isFinal && text !== '') this.#lastLanguage = language
    this.#isUtteranceOpen = !speechFinal
    if (speechFinal) this.#utterance++
  }

  get #language(): SpeechLanguage {
    return { requested: this.#input.language, last: this.#lastLanguage }
  }

  #dropInterim(): void {
    if (this.#interim) this.#queue.cancel(this.#interim.recognition)
    this.#interim = undefined
  }

  #send(message: StreamMessage): void {
    if (!this.#closed) this.#toParent(message)
  }
}
