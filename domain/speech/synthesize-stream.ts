import type { OutputFormat } from '../../audio/format.ts'
import { frameBytes, isSampleEncoding } from '../../audio/pcm.ts'
import type { Quantity } from '../billing/ledger.ts'
import { AttemptSignal } from '../dispatch/attempt-signal.ts'
import { type DispatchedRequest, dispatchRequest } from '../dispatch/dispatch.ts'
import type { DispatchDeps, Plan } from '../dispatch/request.ts'
import { Fault } from '../fault.ts'
import { ProviderError } from '../ports/provider-error.ts'
import type { Ask } from '../routing/ask.ts'
import { type ConvertSpeech, openSpeech } from './open-speech.ts'
import { castSpeech, charactersOf, ttsRequest } from './spoken-form.ts'
import type { SpeechSink, SpeechStream, SynthesizeStream, SynthesizeStreamInput } from './stream.ts'
import type { Tts } from './tts.ts'
import { type Speaker, type SpokenSentence, Utterance } from './utterance.ts'

export type SynthesizeStreamLimits = {
  /** The longest stream. */
  totalMs: number
  /** The UTF-16 units of text that may wait to be sent to a provider. */
  waitingMax: number
}

export type SynthesizeStreamDeps = DispatchDeps & { convert: ConvertSpeech; streams: SynthesizeStreamLimits }

/**
 * A stream that speaks sentence by sentence, with one voice of one provider. No provider is contacted before there is
 * text, so `ready` names the best candidate. A failure after that ends the stream, because another provider would have
 * another voice.
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

/** Credit is reserved for this number of characters at a time. */
const sliceCharacters = 1000
const pieceMs = 100

type Cast = { ask: Ask; voice: string | undefined; tts: Tts }

class Speaking implements SpeechStream, Speaker {
  readonly pieceBytesMax: number
  readonly #deps: SynthesizeStreamDeps
  readonly #input: SynthesizeStreamInput
  readonly #sink: SpeechSink
  #utterance: Utterance = new Utterance(this, false)
  #dispatched: DispatchedRequest<Cast> | null = null
  #dueMs = 0
  #endAsked = false
  #isOver = false
  /** Set while the sink takes no more audio. */
  #pause: { over: Promise<void>; resume: () => void } | null = null
  /** The characters that were sent to the provider and are billed. */
  #characters = 0
  #reservedCharacters = sliceCharacters
  #firstAudioMs: number | null = null

  constructor(deps: SynthesizeStreamDeps, input: SynthesizeStreamInput, sink: SpeechSink) {
    this.#deps = deps
    this.#input = input
    this.#sink = sink
    this.pieceBytesMax = pieceBytes(input.wanted)
  }

  async open(): Promise<void> {
    try {
      this.#adopt(await this.#choose())
    } catch (error) {
      this.#fail(error)
    }
  }

  text(text: string): void {
    if (this.#isOver || this.#endAsked) return
    if (this.#utterance.waiting + text.length > this.#deps.streams.waitingMax)
      return this.#fail(new Fault({ kind: 'too_much_text' }))
    this.#utterance.push(text)
  }

  flush(): void {
    if (!this.#isOver) this.#utterance.flush()
  }

  clear(): void {
    if (this.#isOver) return
    const charactersSent = this.#utterance.drop()
    this.#utterance = new Utterance(this, this.#dispatched !== null)
    this.#sink.cleared(charactersSent)
    this.#endWhenSilent()
  }

  end(): void {
    if (this.#isOver || this.#endAsked) return
    this.#endAsked = true
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

  speak(sentence: string): SpokenSentence {
    const { clock, limits } = this.#deps
    const dispatched = this.#open()
    const signal = new AttemptSignal(clock, dispatched.signal, limits.tts.firstByteMs, this.#dueMs)
    const billed = { characters: 0 }
    const opening = this.#request(dispatched, sentence.trim(), signal, billed)
    // The sentence is requested ahead, so nothing awaits its rejection until the sentence before it was spoken.
    opening.catch(() => undefined)
    return { sentence, signal, opening, billed }
  }

  pause(): Promise<void> | null {
    return this.#pause?.over ?? null
  }

  hand(audio: Uint8Array): void {
    if (this.#isOver || this.#sink.audio(audio) || this.#pause !== null) return
    let resume = () => {}
    const over = new Promise<void>((resolve) => {
      resume = resolve
    })
    this.#pause = { over, resume }
  }

  silent(): void {
    this.#endWhenSilent()
  }

  failed(error: unknown, spoken: SpokenSentence | null): void {
    // Speech that never came or that broke off is not billed.
    if (error instanceof ProviderError) this.#characters -= spoken?.billed.characters ?? 0
    this.#fail(error)
  }

  async #choose(): Promise<DispatchedRequest<Cast>> {
    const { ask, casting } = castSpeech(this.#input, this.#deps.chooser.world.catalog)
    const run: Plan<Cast>['run'] = (row, _call, { speech }) => {
      const tts = speech?.tts
      if (this.#isOver) throw new ProviderError('cancelled', { sent: false })
      if (!tts) throw new ProviderError('unsupported', { sent: false })
      return Promise.resolve({ ask, voice: casting.voiceFor(row), tts })
    }
    const worstCase = () => spokenQuantity(sliceCharacters)
    return dispatchRequest(this.#deps, this.#input, { ask, atOnce: false, opensOnly: true, worstCase, run })
  }

  #adopt(dispatched: DispatchedRequest<Cast>): void {
    this.#dispatched = dispatched
    if (this.#isOver) return void dispatched.fail(new ProviderError('cancelled', { sent: true }), [])
    this.#dueMs = this.#deps.clock.monotonicMs() + this.#deps.streams.totalMs
    dispatched.signal.onEnd((error) => this.#fail(error))
    this.#sink.ready(dispatched.route)
    this.#utterance.start()
    this.#endWhenSilent()
  }

  #open(): DispatchedRequest<Cast> {
    if (this.#dispatched === null) throw new Error('an utterance was started before its stream was open')
    return this.#dispatched
  }

  async #request(
    dispatched: DispatchedRequest<Cast>,
    text: string,
    signal: AttemptSignal,
    billed: SpokenSentence['billed'],
  ): Promise<AsyncIterable<Uint8Array>> {
    const { clock, convert, limits } = this.#deps
    const { ask, voice, tts } = dispatched.value
    const characters = charactersOf(text)
    await this.#reserve(dispatched, this.#characters + characters)
    if (signal.aborted) throw signal.reason
    const startedMs = clock.monotonicMs()
    const request = ttsRequest(dispatched.row, this.#input, ask, voice, text)
    billed.characters = characters
    this.#characters += characters
    const audio = await signal.guard(openSpeech(convert, tts, 'stream', request, signal, limits.tts.idleMs))
    signal.rest()
    this.#noteFirst(dispatched, clock.monotonicMs() - startedMs)
    return audio
  }

  /**
   * Only the first sentence counts as a live figure: the later ones are requested ahead and wait for each other at the
   * provider.
   */
  #noteFirst(dispatched: DispatchedRequest<Cast>, elapsedMs: number): void {
    if (this.#firstAudioMs !== null) return
    this.#firstAudioMs = elapsedMs
    dispatched.firstMedia(elapsedMs)
  }

  async #reserve(dispatched: DispatchedRequest<Cast>, characters: number): Promise<void> {
    const amount = Math.max(characters - this.#reservedCharacters, sliceCharacters)
    if (characters <= this.#reservedCharacters || !dispatched.costs(spokenQuantity(amount))) return
    if (!(await dispatched.reserve(spokenQuantity(amount)))) throw new Fault({ kind: 'credit_exhausted' })
    this.#reservedCharacters += amount
  }

  #endWhenSilent(): void {
    if (!this.#endAsked || this.#isOver || this.#dispatched === null || !this.#utterance.isSilent) return
    this.#isOver = true
    const sample = this.#firstAudioMs === null ? {} : { firstByteMs: this.#firstAudioMs }
    const costMicroUsd = this.#dispatched.succeed(spokenQuantity(this.#characters), sample)
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
    // The utterance may be waiting for the sink; it then finds that it was dropped.
    this.resume()
    return this.#dispatched?.fail(thrown, spokenQuantity(this.#characters)) ?? thrown
  }
}

/** Pieces hold whole samples. A packet is never cut. */
function pieceBytes({ encoding, sampleRateHz, channels }: OutputFormat): number {
  if (!isSampleEncoding(encoding)) return Number.POSITIVE_INFINITY
  return Math.ceil((sampleRateHz * pieceMs) / 1000) * frameBytes({ encoding, channels })
}

function spokenQuantity(characters: number): Quantity[] {
  return [{ unit: 'characters', amount: characters }]
}
