import type { OutputFormat } from '../../audio/format.ts'
import { frameBytes, isSampleEncoding } from '../../audio/pcm.ts'
import type { Quantity } from '../billing/ledger.ts'
import type { Row } from '../catalog/catalog.ts'
import { AttemptSignal } from '../dispatch/attempt-signal.ts'
import { type DispatchedRequest, dispatchRequest } from '../dispatch/dispatch.ts'
import type { DispatchDeps, Plan } from '../dispatch/request.ts'
import { errorClasses, ProviderError } from '../ports/provider-error.ts'
import type { Tts, WordEnd } from '../ports/tts.ts'
import { Fault } from '../records/fault.ts'
import type { Ask } from '../routing/ask.ts'
import { charactersOf } from './characters.ts'
import { type ConvertSpeech, openSpeech } from './open-speech.ts'
import { castSpeech, ttsRequest } from './spoken-form.ts'
import type { SpeechSink, SpeechStream, SynthesizeStream, SynthesizeStreamInput } from './stream.ts'
import { type Speaker, type SpokenSentence, Utterance } from './utterance.ts'

export type SynthesizeStreamLimits = {
  /** Limits a stream's duration. */
  totalMs: number
  /** Limits the text that waits to be sent to a provider, in characters. */
  waitingMax: number
}

export type SynthesizeStreamDeps = DispatchDeps & { convert: ConvertSpeech; streams: SynthesizeStreamLimits }

/**
 * Creates streams that speak sentence by sentence, with one voice from one provider. No provider is contacted before
 * text arrives, so the first `ready` names the best candidate. If this candidate returns no audio for the first
 * sentence, the next candidate receives the sentence, and another `ready` names the speaking candidate. A failure after
 * the first audio ends the stream, because another provider would have another voice.
 */
export function createSynthesizeStream(deps: SynthesizeStreamDeps): SynthesizeStream {
  const tts = { ...deps.limits.tts, totalMs: deps.streams.totalMs }
  const streamDeps = { ...deps, limits: { ...deps.limits, tts } }
  return (input, sink) => {
    const stream = new Speaking(streamDeps, input, sink)
    void stream.open()
    return stream
  }
}

/** Credit is reserved for this many characters at a time. */
const sliceCharacters = 1000
const pieceMs = 100

type Audio = AsyncIterable<Uint8Array>
/** A candidate with its voice. `first` is the first sentence's audio if the candidate took over in a failover. */
type Cast = { voice: string | undefined; tts: Tts; first: Opened | null }
type Opened = { audio: Audio; signal: AttemptSignal; ends: WordEnd[] }

/** A sentence whose audio has not arrived yet. */
type Requested = Pick<SpokenSentence, 'signal' | 'billedCharacters' | 'ends'>

class Speaking implements SpeechStream, Speaker {
  readonly pieceBytesMax: number
  readonly #deps: SynthesizeStreamDeps
  readonly #input: SynthesizeStreamInput
  readonly #sink: SpeechSink
  #utterance: Utterance = new Utterance(this, false)
  #ask: Ask | null = null
  #dispatched: DispatchedRequest<Cast> | null = null
  /** The first sentence, while a failover sends it to other candidates. */
  #retried: string | null = null
  readonly #dueMs: number
  #isEnding = false
  #isOver = false
  /** Set while the sink accepts no more audio. */
  #pause: { over: Promise<void>; resume: () => void } | null = null
  /** The billed characters sent to the provider. */
  #characters = 0
  /** Counts the characters whose whole speech was handed to the sink. */
  #handedOver = 0
  #reservedCharacters = sliceCharacters
  #firstAudioMs: number | null = null

  constructor(deps: SynthesizeStreamDeps, input: SynthesizeStreamInput, sink: SpeechSink) {
    this.#deps = deps
    this.#input = input
    this.#sink = sink
    this.pieceBytesMax = pieceBytes(input.outputFormat)
    this.#dueMs = deps.clock.monotonicMs() + deps.streams.totalMs
  }

  async open(): Promise<void> {
    try {
      this.#adopt(await this.#choose())
    } catch (error) {
      this.#fail(error)
    }
  }

  text(text: string): void {
    if (this.#isOver || this.#isEnding) return
    if (this.#utterance.waitingCharacters + charactersOf(text) > this.#deps.streams.waitingMax)
      return this.#fail(new Fault({ kind: 'too_much_text' }))
    this.#utterance.push(text)
  }

  flush(): void {
    if (!this.#isOver) this.#utterance.flush()
  }

  clear(): void {
    if (this.#isOver) return
    this.#utterance.drop()
    this.#utterance = new Utterance(this, this.#dispatched !== null && this.#retried === null)
    this.#sink.cleared(this.#handedOver)
    this.#endWhenSilent()
  }

  end(): void {
    if (this.#isOver || this.#isEnding) return
    this.#isEnding = true
    this.#utterance.flush()
    this.#endWhenSilent()
  }

  resume(): void {
    const pause = this.#pause
    this.#pause = null
    pause?.resume()
  }

  leave(): void {
    if (!this.#isOver) this.#close(new ProviderError('cancelled', { sent: true }))
  }

  get owesSpeech(): boolean {
    return !this.#isOver && !this.#utterance.isSilent
  }

  speak(sentence: string): SpokenSentence {
    const dispatched = this.#open()
    const spoken: Requested = { signal: this.#signalOf(dispatched.signal), billedCharacters: 0, ends: [] }
    const opening = this.#request(dispatched, spoken, sentence)
    // The next sentence is requested in advance. No code awaits its promise until the previous sentence was spoken, so
    // a rejection before that is caught here.
    opening.catch(() => undefined)
    return Object.assign(spoken, { opening })
  }

  pause(): Promise<void> | null {
    return this.#pause?.over ?? null
  }

  speaking(from: number, ends: readonly WordEnd[]): void {
    if (!this.#isOver) this.#sink.speaking?.(from, ends)
  }

  hand(audio: Uint8Array): void {
    if (this.#isOver || this.#sink.audio(audio) || this.#pause !== null) return
    let resume = () => {}
    const over = new Promise<void>((resolve) => {
      resume = resolve
    })
    this.#pause = { over, resume }
  }

  handedOver(characters: number): void {
    this.#handedOver += characters
    this.#sink.handedOver?.(this.#handedOver)
  }

  silent(): void {
    this.#endWhenSilent()
  }

  failed(error: unknown, spoken: SpokenSentence | null): void {
    // A sentence is not billed if its speech never arrived or was incomplete.
    if (error instanceof ProviderError) this.#characters -= spoken?.billedCharacters ?? 0
    this.#fail(error)
  }

  async #choose(): Promise<DispatchedRequest<Cast>> {
    const { ask, casting } = castSpeech(this.#input, this.#deps.chooser.world.catalog)
    this.#ask = ask
    const run: Plan<Cast>['run'] = async (row, attempt, { speech }) => {
      const tts = speech?.tts
      if (this.#isOver) throw new ProviderError('cancelled', { sent: false })
      if (!tts) throw new ProviderError('unsupported', { sent: false })
      const cast = { voice: casting.voiceFor(row), tts, first: null }
      if (this.#retried === null) return cast
      const first = { signal: this.#signalOf(attempt), ends: [] }
      return { ...cast, first: { ...first, audio: await this.#openSentence(row, cast, this.#retried, first) } }
    }
    const worstCase = () => spokenQuantity(sliceCharacters)
    return dispatchRequest(this.#deps, this.#input, { ask, atOnce: false, opensOnly: true, worstCase, run })
  }

  #adopt(dispatched: DispatchedRequest<Cast>): void {
    this.#dispatched = dispatched
    if (this.#isOver)
      return void dispatched.fail(new ProviderError('cancelled', { sent: true }), spokenQuantity(this.#characters))
    dispatched.signal.onEnd((error) => {
      // A failover also ends the failed attempt's signal. This must not end the stream.
      if (this.#dispatched === dispatched && this.#retried === null) this.#fail(error)
    })
    this.#sink.ready(dispatched.route)
    this.#utterance.start()
    this.#endWhenSilent()
  }

  #open(): DispatchedRequest<Cast> {
    if (this.#dispatched === null) throw new Error('an utterance was started before its stream was open')
    return this.#dispatched
  }

  async #request(dispatched: DispatchedRequest<Cast>, spoken: Requested, text: string): Promise<Audio> {
    const { clock } = this.#deps
    try {
      await this.#reserve(dispatched, this.#characters + charactersOf(text))
      if (spoken.signal.aborted) throw spoken.signal.reason
      const startedMs = clock.monotonicMs()
      this.#bill(spoken, charactersOf(text))
      const audio = await this.#openSentence(dispatched.row, dispatched.value, text, spoken)
      this.#noteFirst(dispatched, clock.monotonicMs() - startedMs)
      return audio
    } catch (error) {
      if (!this.#mayFailOver(error)) throw error
      return this.#failOver(dispatched, spoken, text, error)
    }
  }

  async #openSentence(
    row: Row,
    { tts, voice }: Cast,
    text: string,
    { signal, ends }: Omit<Opened, 'audio'>,
  ): Promise<Audio> {
    const { convert, limits } = this.#deps
    if (this.#ask === null) throw new Error('a sentence was requested before its stream had an ask')
    const request = {
      ...ttsRequest(row, this.#input, this.#ask, voice, text),
      ...(this.#sink.speaking && { onWordEnd: wordEndsInto(ends) }),
    }
    const audio = await signal.guard(openSpeech(convert, tts, 'stream', request, signal, limits.tts.idleMs))
    signal.rest()
    return audio
  }

  /**
   * Returns true if a failover is possible: only before the first audio, because another provider has another voice.
   */
  #mayFailOver(error: unknown): error is ProviderError {
    const isProviders = error instanceof ProviderError && errorClasses[error.errorClass].failover
    return isProviders && this.#firstAudioMs === null && this.#retried === null && !this.#isOver
  }

  /** Sends the first sentence to the remaining candidates. */
  async #failOver(
    failed: DispatchedRequest<Cast>,
    spoken: Requested,
    text: string,
    error: ProviderError,
  ): Promise<Audio> {
    const utterance = this.#utterance
    this.#bill(spoken, 0)
    this.#retried = text
    try {
      const dispatched = await failed.failOver(error)
      const { first } = dispatched.value
      if (first === null) throw new Error('a candidate took over without a sentence')
      this.#retried = null
      this.#bill(spoken, charactersOf(text))
      spoken.signal = first.signal
      spoken.ends = first.ends
      if (utterance.isDropped) first.signal.end(new ProviderError('cancelled', { sent: true }))
      this.#noteFirst(dispatched, dispatched.elapsedMs)
      this.#adopt(dispatched)
      return first.audio
    } catch (fault) {
      // The request has ended. So the stream fails, even if the sentence was dropped meanwhile.
      this.#fail(fault)
      throw fault
    }
  }

  #bill(spoken: Requested, characters: number): void {
    this.#characters += characters - spoken.billedCharacters
    spoken.billedCharacters = characters
  }

  #signalOf(attempt: AttemptSignal): AttemptSignal {
    const { clock, limits } = this.#deps
    return new AttemptSignal(clock, attempt, limits.tts.firstByteMs, this.#dueMs)
  }

  /**
   * Records the time to the first audio as a measurement for the model's ranking, for the first sentence only. Later
   * sentences are requested in advance and wait at the provider, so their times say nothing about its speed.
   */
  #noteFirst(dispatched: DispatchedRequest<Cast>, elapsedMs: number): void {
    if (this.#firstAudioMs !== null) return
    this.#firstAudioMs = elapsedMs
    dispatched.firstMedia(elapsedMs)
  }

  async #reserve(dispatched: DispatchedRequest<Cast>, characters: number): Promise<void> {
    const amount = Math.max(characters - this.#reservedCharacters, sliceCharacters)
    if (characters <= this.#reservedCharacters || !dispatched.costs(spokenQuantity(amount))) return
    await dispatched.reserve(spokenQuantity(amount))
    this.#reservedCharacters += amount
  }

  #endWhenSilent(): void {
    const isOpen = this.#dispatched !== null && this.#retried === null
    if (!this.#isEnding || this.#isOver || !isOpen || !this.#utterance.isSilent) return
    this.#isOver = true
    const sample = this.#firstAudioMs === null ? {} : { firstByteMs: this.#firstAudioMs }
    const costMicroUsd = this.#open().succeed(spokenQuantity(this.#characters), sample)
    this.#sink.ended({ characters: this.#characters, costMicroUsd })
  }

  #fail(thrown: unknown): void {
    if (this.#isOver) return
    const fault = this.#close(thrown)
    this.#sink.failed(fault instanceof Fault ? fault : new Fault({ kind: 'internal' }, { cause: fault }))
  }

  #close(thrown: unknown): unknown {
    this.#isOver = true
    this.#utterance.drop()
    // The utterance may be waiting for the sink. It must wake to detect that it was dropped.
    this.resume()
    return this.#dispatched?.fail(thrown, spokenQuantity(this.#characters)) ?? thrown
  }
}

/**
 * Returns a function that adds a word end to `ends` if it is later in the text. So a provider cannot report more ends
 * than the text has characters.
 */
function wordEndsInto(ends: WordEnd[]): (end: WordEnd) => void {
  return (end) => {
    if (end.place > (ends.at(-1)?.place ?? 0)) ends.push(end)
  }
}

/** Returns the size of a piece, in whole samples. A packet is never cut. */
function pieceBytes({ encoding, sampleRateHz, channels }: OutputFormat): number {
  if (!isSampleEncoding(encoding)) return Number.POSITIVE_INFINITY
  return Math.ceil((sampleRateHz * pieceMs) / 1000) * frameBytes({ encoding, channels })
}

function spokenQuantity(characters: number): Quantity[] {
  return [{ unit: 'characters', amount: characters }]
}
