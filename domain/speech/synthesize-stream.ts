import type { OutputFormat } from '../../audio/format.ts'
import { frameBytes, isSampleEncoding } from '../../audio/pcm.ts'
import type { Quantity } from '../billing/ledger.ts'
import { AttemptSignal } from '../dispatch/attempt-signal.ts'
import { type DispatchedRequest, dispatchRequest } from '../dispatch/dispatch.ts'
import type { DispatchDeps, Plan } from '../dispatch/request.ts'
import { Fault } from '../fault.ts'
import { ProviderError } from '../ports/provider-error.ts'
import type { Ask } from '../routing/ask.ts'
import { charactersOf, speechAsk, ttsRequest } from './delivery.ts'
import { type ConvertSpeech, openSpeech } from './open-speech.ts'
import type { SpeechSink, SpeechStream, SynthesizeStream, SynthesizeStreamInput } from './stream.ts'
import type { Tts } from './tts.ts'
import { type Speaker, type SpokenSentence, Utterance } from './utterance.ts'
import { Casting } from './voices.ts'

export type SynthesizeStreamLimits = {
  /** The longest session. */
  totalMs: number
  /** UTF-16 units of text that no provider was asked for yet. */
  waitingMax: number
}

export type SynthesizeStreamDeps = DispatchDeps & { convert: ConvertSpeech; streams: SynthesizeStreamLimits }

/**
 * A session that speaks sentence by sentence, with one voice of one provider. There is nothing to open before there is text, so `ready` names
 * the best candidate; that it fails afterwards is not made good by another voice.
 */
export function createSynthesizeStream(deps: SynthesizeStreamDeps): SynthesizeStream {
  const tts = { ...deps.limits.tts, totalMs: deps.streams.totalMs }
  const own = { ...deps, limits: { ...deps.limits, tts } }
  return (order, listener) => {
    const session = new Speaking(own, order, listener)
    void session.open()
    return session
  }
}

/** Credit is reserved for so many characters at a time. */
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
  /** Set while the listener takes no more. */
  #pause: { over: Promise<void>; resume: () => void } | null = null
  /** That a provider was asked for: what is billed. */
  #characters = 0
  #reservedCharacters = sliceCharacters
  #firstAudioMs: number | null = null

  constructor(deps: SynthesizeStreamDeps, order: SynthesizeStreamInput, listener: SpeechSink) {
    this.#deps = deps
    this.#input = order
    this.#sink = listener
    this.pieceBytesMax = pieceBytes(order.wanted)
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

  ask(sentence: string): SpokenSentence {
    const { clock, limits } = this.#deps
    const exchange = this.#open()
    const call = new AttemptSignal(clock, exchange.signal, limits.tts.firstByteMs, this.#dueMs)
    const billed = { characters: 0 }
    const opening = this.#speak(exchange, sentence.trim(), call, billed)
    // It is asked for ahead: until its turn comes nobody waits for it.
    opening.catch(() => undefined)
    return { sentence, signal: call, opening, billed }
  }

  room(): Promise<void> | null {
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

  failed(error: unknown, utterance: SpokenSentence | null): void {
    // Speech that never came or broke off is owed by nobody.
    if (error instanceof ProviderError) this.#characters -= utterance?.billed.characters ?? 0
    this.#fail(error)
  }

  async #choose(): Promise<DispatchedRequest<Cast>> {
    const ask = speechAsk(this.#input)
    const casting = new Casting(ask.voice, this.#input.preset, ask.language)
    const run: Plan<Cast>['run'] = (row, _call, { speech }) => {
      const tts = speech?.tts
      if (this.#isOver) throw new ProviderError('cancelled', { sent: false })
      if (!tts) throw new ProviderError('unsupported', { sent: false })
      return Promise.resolve({ ask, voice: casting.voiceFor(row), tts })
    }
    const worstCase = () => spokenQuantity(sliceCharacters)
    return dispatchRequest(this.#deps, this.#input, { ask, atOnce: false, opensOnly: true, worstCase, run })
  }

  #adopt(exchange: DispatchedRequest<Cast>): void {
    this.#dispatched = exchange
    if (this.#isOver) return void exchange.fail(new ProviderError('cancelled', { sent: true }), [])
    this.#dueMs = this.#deps.clock.monotonicMs() + this.#deps.streams.totalMs
    exchange.signal.onEnd((error) => this.#fail(error))
    this.#sink.ready(exchange.route)
    this.#utterance.start()
    this.#endWhenSilent()
  }

  #open(): DispatchedRequest<Cast> {
    if (this.#dispatched === null) throw new Error('a turn was started before its session was open')
    return this.#dispatched
  }

  async #speak(
    exchange: DispatchedRequest<Cast>,
    text: string,
    call: AttemptSignal,
    billed: SpokenSentence['billed'],
  ): Promise<AsyncIterable<Uint8Array>> {
    const { clock, convert, limits } = this.#deps
    const { ask, voice, tts } = exchange.value
    const characters = charactersOf(text)
    await this.#reserve(exchange, this.#characters + characters)
    if (call.aborted) throw call.reason
    const startedMs = clock.monotonicMs()
    const request = ttsRequest(exchange.row, this.#input, ask, voice, text)
    billed.characters = characters
    this.#characters += characters
    const audio = await call.guard(openSpeech(convert, tts, 'session', request, call, limits.tts.idleMs))
    call.rest()
    this.#noteFirst(exchange, clock.monotonicMs() - startedMs)
    return audio
  }

  /** The session's one figure of speed is that of its first sentence: the later ones are asked for ahead and share the provider with others. */
  #noteFirst(exchange: DispatchedRequest<Cast>, elapsedMs: number): void {
    if (this.#firstAudioMs !== null) return
    this.#firstAudioMs = elapsedMs
    exchange.firstMedia(elapsedMs)
  }

  async #reserve(exchange: DispatchedRequest<Cast>, characters: number): Promise<void> {
    const amount = Math.max(characters - this.#reservedCharacters, sliceCharacters)
    if (characters <= this.#reservedCharacters || !exchange.costs(spokenQuantity(amount))) return
    if (!(await exchange.reserve(spokenQuantity(amount)))) throw new Fault({ kind: 'credit_exhausted' })
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
    // Whoever waits for room finds that its turn was dropped.
    this.resume()
    return this.#dispatched?.fail(thrown, spokenQuantity(this.#characters)) ?? thrown
  }
}

/** Whole samples. A packet is never cut. */
function pieceBytes({ encoding, sampleRateHz, channels }: OutputFormat): number {
  if (!isSampleEncoding(encoding)) return Number.POSITIVE_INFINITY
  return Math.ceil((sampleRateHz * pieceMs) / 1000) * frameBytes({ encoding, channels })
}

function spokenQuantity(characters: number): Quantity[] {
  return [{ unit: 'characters', amount: characters }]
}
