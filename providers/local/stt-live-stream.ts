/**
 * One stream inside the child: its audio is decoded, cut at pauses and recognised while it comes.
 *
 *   audio     ....######.######........######..
 *   guesses          ^    ^  ^ settled: the pause is as long as the pad
 *   final                       ^ endpoint: the pause is as long as asked. The settled guess heard the same samples, so it is the final.
 *
 * It holds one open segment and at most one that waits for its text (15 s each); audio is taken no faster than that.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { frameBytes } from '../../audio/pcm.ts'
import { decodeMono } from './decode.ts'
import { moonshineRateHz } from './moonshine.ts'
import type { Recogniser, Recognition } from './recogniser.ts'
import { frameMs, Segmenter, type SpeechSegment } from './segmenter.ts'
import type { FromStreamChild, StreamInput } from './stt-live-messages.ts'
import { type Vad, vadFrameSamples } from './vad.ts'

/** The model makes little of less. */
const firstGuessFrames = Math.round(448 / frameMs)
const guessFramesMin = Math.round(640 / frameMs)
/** Guesses take at most this part of the time: longer segments and a busy recogniser stretch their distance. */
const guessShareMax = 1 / 3
/** A stream that is so far behind gets no guesses. */
const behindMs = 500

type Event = { type: 'audio'; bytes: Uint8Array } | { type: 'flush' } | { type: 'end' }
/** Without the id, which is not its own. */
export type Told = FromStreamChild extends infer Message
  ? Message extends unknown
    ? Omit<Message, 'id'>
    : never
  : never

type Guess = { recognition: Recognition; samples: number }

export class RecognitionStream {
  readonly #input: StreamInput
  readonly #segmenter: Segmenter
  readonly #recogniser: Recogniser
  readonly #tell: (told: Told) => void
  readonly #inbox: Event[] = []
  readonly #bytesPerMs: number
  #waitingBytes = 0
  #wake = () => {}
  #closed = false
  #speechTold = false
  #guess: Guess | undefined
  #guessDueFrame = 0
  #followedFrames = 0
  /** Asked for and not answered yet. */
  readonly #pending = new Set<Recognition>()
  #lastFinal: Promise<void> = Promise.resolve()
  #utterance = 0
  /** Something of the utterance has been told, so its end has to be told too. */
  #utteranceTold = false
  #lastText = ''

  constructor(
    input: StreamInput,
    { vad, recogniser, tell }: { vad: Vad; recogniser: Recogniser; tell: (told: Told) => void },
  ) {
    const { encoding, sampleRateHz, channels } = input.audio
    this.#input = input
    this.#segmenter = new Segmenter(vad, input.endpointingMs)
    this.#recogniser = recogniser
    this.#tell = tell
    this.#bytesPerMs = (frameBytes({ encoding, channels }) * sampleRateHz) / 1000
  }

  /** Takes events until `end` or `close`. Never rejects: what goes wrong is told. */
  async run(): Promise<void> {
    const format = { container: 'raw' as const, ...this.#input.audio }
    try {
      for await (const samples of decodeMono({ format, durationMs: 0, pieces: this.#pieces() }, moonshineRateHz)) {
        await this.#hear(samples)
      }
      if (this.#closed) return
      for await (const segment of this.#segmenter.end()) await this.#finish(segment)
      this.#endSpeech()
      await this.#lastFinal
      this.#say({ type: 'ended' })
    } catch (error) {
      this.#say({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
    }
    this.close()
  }

  take(event: Event): void {
    this.#inbox.push(event)
    if (event.type === 'audio') this.#waitingBytes += event.bytes.length
    this.#wake()
  }

  close(): void {
    this.#closed = true
    for (const recognition of this.#pending) this.#recogniser.cancel(recognition)
    this.#inbox.length = 0
    this.#wake()
  }

  /** Asked for the next one, the piece before has been heard: events keep their order. */
  async *#pieces(): AsyncGenerator<Uint8Array> {
    while (!this.#closed) {
      const event = this.#inbox.shift()
      if (event === undefined) await new Promise<void>((resolve) => (this.#wake = resolve))
      else if (event.type === 'end') return
      else if (event.type === 'flush') await this.#flush()
      else {
        yield event.bytes
        this.#waitingBytes -= event.bytes.length
        this.#say({ type: 'taken', bytes: event.bytes.length })
      }
    }
  }

  async #hear(samples: Float32Array): Promise<void> {
    for (let at = 0; at < samples.length && !this.#closed; at += vadFrameSamples) {
      const wasOpen = this.#segmenter.open
      // At most one frame a time, so that no state of the segmenter is overlooked.
      for await (const segment of this.#segmenter.push(samples.subarray(at, at + vadFrameSamples))) {
        await this.#finish(segment)
      }
      if (wasOpen && !this.#segmenter.open) this.#endSpeech()
      this.#followSpeech()
      // The runtime computes within this thread: other streams and the parent get their turn.
      await turn()
    }
  }

  async #flush(): Promise<void> {
    const segment = this.#segmenter.close()
    if (segment) await this.#finish(segment)
    this.#endSpeech()
  }

  #followSpeech(): void {
    const { speaking, frameCount: framesHeard, startMs } = this.#segmenter
    if (!speaking || framesHeard === this.#followedFrames) return
    this.#followedFrames = framesHeard
    if (!this.#speechTold) {
      this.#speechTold = true
      this.#guessDueFrame = Math.round(startMs / frameMs) + firstGuessFrames
      this.#say({ type: 'speechStarted', startMs })
    }
    if (this.#waitingBytes <= behindMs * this.#bytesPerMs) this.#guessIfDue()
  }

  #guessIfDue(): void {
    const { settled, silentFrames, frameCount: framesHeard } = this.#segmenter
    // In a pause only the guess that can become the final is worth its time.
    const due = this.#input.interimResults && silentFrames === 0 && framesHeard >= this.#guessDueFrame
    if (!settled && !due) return
    const segment = this.#segmenter.peek()
    if (segment) void this.#makeGuess(segment, framesHeard)
  }

  async #makeGuess(segment: SpeechSegment, askedFrame: number): Promise<void> {
    this.#dropGuess()
    this.#guessDueFrame = Infinity
    const askedMs = performance.now()
    const guess: Guess = { recognition: this.#recogniser.interim(segment.samples), samples: segment.samples.length }
    this.#guess = guess
    // A failure is told by the final, which meets it too.
    const text = await this.#textOf(guess.recognition).catch(() => null)
    if (this.#guess !== guess) return
    const stretchedFrames = (performance.now() - askedMs) / guessShareMax / frameMs
    this.#guessDueFrame = askedFrame + Math.max(guessFramesMin, Math.ceil(stretchedFrames))
    if (text === null) this.#guess = undefined
    else if (this.#input.interimResults && text !== '' && text !== this.#lastText) this.#tellText(text, segment, false)
  }

  /** The text is told later, in order; only a second segment that waits would hold up the audio. */
  async #finish(segment: SpeechSegment): Promise<void> {
    const recognition = this.#guessOf(segment) ?? this.#recogniser.final(segment.samples)
    await this.#lastFinal
    this.#lastFinal = this.#tellFinal(recognition, segment)
    // Awaited before the next one, which may never come.
    this.#lastFinal.catch(() => {})
    this.#guessDueFrame = this.#segmenter.frameCount + guessFramesMin
    if (segment.endpoint) this.#speechTold = false
  }

  async #tellFinal(recognition: Recognition, segment: SpeechSegment): Promise<void> {
    let text = await this.#textOf(recognition)
    // Overtaken just before it was hurried.
    if (text === null && !this.#closed) text = await this.#textOf(this.#recogniser.final(segment.samples))
    if (text === null || (text === '' && !(segment.endpoint && this.#utteranceTold))) return
    this.#tellText(text, segment, true)
  }

  /** The guess at exactly these samples, which is then hurried; any other is overtaken. */
  #guessOf({ samples }: SpeechSegment): Recognition | undefined {
    const guess = this.#guess
    this.#guess = undefined
    if (guess?.samples === samples.length) {
      this.#recogniser.makeFinal(guess.recognition)
      return guess.recognition
    }
    if (guess) this.#recogniser.cancel(guess.recognition)
    return undefined
  }

  /** An utterance that was cut, and then nothing more was said, has no last segment to end it. */
  #endSpeech(): void {
    this.#dropGuess()
    this.#speechTold = false
    const endMs = Math.round(this.#segmenter.frameCount * frameMs)
    this.#lastFinal = this.#lastFinal.then(() => {
      if (this.#utteranceTold) this.#tellText('', { startMs: endMs, endMs, endpoint: true }, true)
    })
    this.#lastFinal.catch(() => {})
  }

  async #textOf(recognition: Recognition): Promise<string | null> {
    this.#pending.add(recognition)
    try {
      return await recognition.text
    } finally {
      this.#pending.delete(recognition)
    }
  }

  #tellText(
    text: string,
    { startMs, endMs, endpoint }: Pick<SpeechSegment, 'startMs' | 'endMs' | 'endpoint'>,
    isFinal: boolean,
  ): void {
    const speechFinal = isFinal && endpoint
    const transcript = { utterance: this.#utterance, text, isFinal, speechFinal, startMs, endMs, language: 'en' }
    this.#say({ type: 'transcript', transcript })
    this.#lastText = isFinal ? '' : text
    this.#utteranceTold = !speechFinal
    if (speechFinal) this.#utterance++
  }

  #dropGuess(): void {
    if (this.#guess) this.#recogniser.cancel(this.#guess.recognition)
    this.#guess = undefined
  }

  #say(told: Told): void {
    if (!this.#closed) this.#tell(told)
  }
}
