/**
 * Speaks one agent turn. The text arrives in pieces. It is split into sentences, then converted to speech and to frames
 * for the client.
 *
 *   say ─► sentences ─► one stream of text to speech ─► playout
 *
 * If a voice fails, another provider replaces it, and speaks the broken-off sentence again.
 */
import type { RequestContext, Route } from '../../dispatch/request.ts'
import type { CancelSignal, Clock } from '../../ports/system.ts'
import type { WordEnd } from '../../ports/tts.ts'
import type { Fault } from '../../records/fault.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import type { Routing } from '../../routing/ask.ts'
import { charactersOf } from '../../speech/characters.ts'
import { type SpokenText, shifted, startBehind, type TextStart } from '../../speech/reading/markdown.ts'
import { isSpeakable, SentenceBuffer } from '../../speech/sentence-buffer.ts'
import type { SpeechSink, SpeechStream, StreamUsage, SynthesizeStream } from '../../speech/stream.ts'
import { type FailoverRecord, recordRoute } from '../parts/failover-record.ts'
import { StageRetries } from '../parts/stage-retries.ts'
import { LeadingSilence } from './leading-silence.ts'
import { PlayedText, type SentenceCut } from './played-text.ts'
import type { Playout } from './playout.ts'
import { nextRouting, type SessionVoice, wishOf } from './session-voice.ts'

export type AgentSpeechDeps = {
  clock: Clock
  synthesizeStream: SynthesizeStream
  request: (signal: CancelSignal) => RequestContext
  normalize: (sentence: string, start: TextStart) => NormalizedSentence
  presetLike: (route: Route) => string | null
  record: FailoverRecord
}

/** `text` is shown and stored. `spoken` is derived from it for the voice. */
export type NormalizedSentence = { text: string; spoken: SpokenText }

export type AgentSpeechEvents = {
  /** Called when the turn's text has grown. */
  text(text: string): void
  /** Called when no voice has worked for 10 s, or when the credit is used up (see StageRetries). */
  voiceLost(fault: Fault): void
}

/**
 * A sentence of the turn. `end` is the sample in the turn at which its audio ends. Null until all its audio has
 * arrived.
 */
type Sentence = NormalizedSentence & { end: number | null }

/**
 * Word timings for the current sentence. They are stored until the leading silence has been removed from the audio,
 * because the removal shifts them. `from` is a position in the sentence's spoken text.
 */
type Announced = { from: number; ends: readonly WordEnd[]; sample: number }

export class AgentSpeech {
  readonly #deps: AgentSpeechDeps
  readonly #pipeline: Pipeline
  readonly #routing: Routing
  readonly #voice: SessionVoice
  readonly #playout: Playout
  readonly #samplesPerMs: number
  readonly #events: AgentSpeechEvents
  readonly #abort = new AbortController()
  readonly #buffer = new SentenceBuffer()
  readonly #sentences: Sentence[] = []
  readonly #played: PlayedText
  readonly #silence: LeadingSilence
  readonly #retries = new StageRetries()
  /** Shown text without speakable characters. It is put in front of the next sentence. */
  #silentText = ''
  #start: TextStart = 'turn'
  #stream: SpeechStream | null = null
  #attempt = 0
  #current = 0
  /** The text sent to the open stream before the sentence at `#current`, in characters and in UTF-16 code units. */
  #before = { characters: 0, units: 0 }
  /** True if audio for the current sentence has arrived. */
  #isAudible = false
  #samples = 0
  /** Counts samples like `#samples`, including the removed silence. */
  #received = 0
  #announced: Announced[] = []
  /** The index of the last sentence to speak. Null if there is no such limit. */
  #endsAfter: number | null = null
  /** True if the text was flushed, so the next sentence starts another text. */
  #isFlushed = false
  #isFinished = false
  #isOver = false
  /** The provider that failed last. */
  #failed: string | null = null
  #cancelRetry: (() => void) | null = null
  #firstSentenceMs: number | null = null
  #firstAudioMs: number | null = null
  #route: Route | null = null
  #usage: { characters: number; costMicroUsd: number | null } | null = null

  constructor(
    deps: AgentSpeechDeps,
    { pipeline, routing, voice }: { pipeline: Pipeline; routing: Routing; voice: SessionVoice },
    { playout, sampleRateHz }: { playout: Playout; sampleRateHz: number },
    events: AgentSpeechEvents,
  ) {
    this.#deps = deps
    this.#pipeline = pipeline
    this.#routing = routing
    this.#voice = voice
    this.#playout = playout
    this.#samplesPerMs = sampleRateHz / 1000
    this.#played = new PlayedText(sampleRateHz, pipeline.ttsOptions.speed)
    this.#silence = new LeadingSilence(sampleRateHz)
    this.#events = events
  }

  /** Returns all complete sentences, as shown. */
  get text(): string {
    return this.#sentences
      .map(({ text }) => text)
      .join('')
      .trim()
  }

  /** Returns the words that were completely played within the first `playedMs`. */
  playedText(playedMs: number): string {
    return this.#played.at(playedMs).trim()
  }

  /**
   * Returns the sentence that was interrupted after `playedMs`. Null if its word timings are known, or if its audio was
   * dropped.
   */
  cutAt(playedMs: number): SentenceCut | null {
    return this.#played.cutAt(playedMs)
  }

  /** Returns the time at which the first sentence was complete, on the monotonic clock. */
  get firstSentenceMs(): number | null {
    return this.#firstSentenceMs
  }

  get firstAudioMs(): number | null {
    return this.#firstAudioMs
  }

  get route(): Route | null {
    return this.#route
  }

  /** Returns the characters spoken and their cost. Null until the voice has ended. */
  get usage(): { characters: number; costMicroUsd: number | null } | null {
    return this.#usage
  }

  say(text: string): void {
    if (this.#isOver || this.#isFinished) return
    for (const sentence of this.#buffer.push(text)) this.#speak(sentence)
  }

  /** Speaks the text so far, even if its last sentence is incomplete. More text may follow. */
  flush(): void {
    if (this.#isOver || this.#isFinished) return
    const rest = this.#buffer.flush()
    if (rest.trim() !== '') this.#speak(rest)
    this.#isFlushed = true
    this.#stream?.flush()
  }

  /** Speaks the text so far. The turn gets no more text. */
  finish(): void {
    if (this.#isOver || this.#isFinished) return
    this.flush()
    this.#isFinished = true
    if (this.#stream !== null) this.#stream.end()
    else if (this.#cancelRetry === null) this.#over()
  }

  /** Stops after the sentence that is played now. */
  endSentence(playedMs: number): void {
    const played = playedMs * this.#samplesPerMs
    const last = this.#sentences.findIndex(({ end }) => end === null || end > played)
    const sentence = this.#sentences[last]
    if (sentence !== undefined) this.#sentences.splice(last + 1)
    if (sentence?.end === null) {
      this.#endsAfter = last
      return
    }
    this.#playout.endAt(sentence?.end ?? this.#samples)
    this.drop()
  }

  drop(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelRetry?.()
    this.#stream?.leave()
    this.#abort.abort()
  }

  /** Continues the voice, because there is room for more audio. */
  resume(): void {
    this.#stream?.resume()
  }

  #over(): void {
    this.#isOver = true
    this.#playout.whole()
  }

  #speak(sentence: string): void {
    const last = this.#silentText || (this.#sentences.at(-1)?.text ?? ' ')
    const gap = this.#isFlushed && !/^\s/.test(sentence) && !/\s$/.test(last) ? ' ' : ''
    if (this.#isFlushed) this.#start = 'turn'
    this.#isFlushed = false
    const { text, spoken } = this.#deps.normalize(gap + sentence, this.#start)
    this.#start = startBehind(sentence, this.#start)
    // The silent text in front is not part of `spoken`. It is not normalized, because a model may send endless blanks,
    // and each one would repeat the work.
    const silent = this.#silentText
    this.#silentText += text
    if (!isSpeakable(spoken.text)) return
    this.#sentences.push({ text: this.#silentText, spoken: shifted(spoken, silent.length), end: null })
    this.#silentText = ''
    this.#firstSentenceMs ??= this.#deps.clock.monotonicMs()
    this.#events.text(this.text)
    if (this.#stream !== null) this.#send(this.#stream, spoken)
    else if (this.#cancelRetry === null) this.#open()
  }

  #send(stream: SpeechStream, spoken: SpokenText): void {
    stream.text(spoken.text)
    stream.flush()
  }

  #open(): void {
    const { ttsOptions, intent } = this.#pipeline
    const attempt = ++this.#attempt
    const isActive = () => attempt === this.#attempt && !this.#isOver
    const input = {
      ...this.#deps.request(this.#abort.signal),
      routing: nextRouting(this.#routing, this.#voice, { failures: this.#retries.failures, failed: this.#failed }),
      ...wishOf(this.#pipeline, this.#voice),
      language: intent.language,
      ...(ttsOptions.instructions !== null && { instructions: ttsOptions.instructions }),
      ...(ttsOptions.speed !== 1 && { speed: ttsOptions.speed }),
      outputFormat: { encoding: 'pcm_s16le' as const, sampleRateHz: this.#samplesPerMs * 1000, channels: 1 },
    }
    this.#before = { characters: 0, units: 0 }
    const stream = this.#deps.synthesizeStream(input, this.#sink(isActive))
    if (!isActive()) return
    this.#stream = stream
    for (const { spoken } of this.#sentences.slice(this.#current)) this.#send(stream, spoken)
    if (this.#isFinished) stream.end()
  }

  #sink(isActive: () => boolean): SpeechSink {
    return {
      ready: (route) => {
        if (isActive()) this.#ready(route)
      },
      speaking: (from, ends) => {
        if (isActive()) this.#announced.push({ from: from - this.#before.units, ends, sample: this.#received })
      },
      audio: (bytes) => !isActive() || this.#audio(bytes),
      cleared: () => {},
      handedOver: (characters) => {
        if (isActive()) this.#handedOver(characters)
      },
      ended: (usage) => {
        if (isActive()) this.#ended(usage)
      },
      failed: (fault) => {
        if (isActive()) this.#broke(fault)
      },
    }
  }

  #ready(route: Route): void {
    const from = this.#route ?? this.#voice.route
    this.#route = route
    if (from !== null && from.provider !== route.provider) this.#voice.preset ??= this.#deps.presetLike(from)
    recordRoute(this.#deps.record, 'tts', from, route)
  }

  #audio(bytes: Uint8Array): boolean {
    const copy = new Int16Array(bytes.length >> 1)
    new Uint8Array(copy.buffer).set(bytes)
    this.#voice.route = this.#route
    this.#retries.worked()
    this.#received += copy.length
    const samples = this.#silence.after(copy)
    if (samples.length === 0) return true
    this.#firstAudioMs ??= this.#deps.clock.monotonicMs()
    if (!this.#isAudible) this.#nextSentence()
    this.#isAudible = true
    this.#announce()
    this.#played.audio(samples)
    this.#samples += samples.length
    return this.#playout.push(samples)
  }

  #nextSentence(): void {
    const { text, spoken } = this.#sentences[this.#current] ?? { text: '', spoken: undefined }
    this.#played.sentence(text, spoken)
    this.#played.forget(this.#playout.playedMs)
  }

  #announce(): void {
    const spoken = this.#sentences[this.#current]?.spoken
    for (const { from, ends, sample } of this.#announced)
      this.#played.words({
        ends,
        fromMs: (sample - this.#silence.removed) / this.#samplesPerMs,
        placeOf: (place) => spoken?.sourcePlace(from + place) ?? 0,
      })
    this.#announced = []
  }

  #handedOver(characters: number): void {
    for (
      let sentence = this.#sentences[this.#current];
      sentence !== undefined;
      sentence = this.#sentences[this.#current]
    ) {
      const { text } = sentence.spoken
      const end = this.#before.characters + charactersOf(text)
      if (characters < end) return
      sentence.end = this.#samples
      this.#played.complete()
      this.#isAudible = false
      this.#announced = []
      if (this.#endsAfter === this.#current) {
        this.#playout.endAt(sentence.end)
        return this.drop()
      }
      this.#current += 1
      this.#before = { characters: end, units: this.#before.units + text.length }
    }
  }

  #ended({ costMicroUsd, ...usage }: StreamUsage): void {
    const { characters, costMicroUsd: soFar } = this.#usage ?? { characters: 0, costMicroUsd: 0 }
    this.#usage = {
      characters: characters + ('characters' in usage ? usage.characters : 0),
      costMicroUsd: soFar === null || costMicroUsd === null ? null : soFar + costMicroUsd,
    }
    this.#handedOver(Number.POSITIVE_INFINITY)
    this.#stream = null
    this.#over()
  }

  #broke(fault: Fault): void {
    this.#stream = null
    this.#attempt += 1
    if (this.#voice.route !== null) this.#voice.preset ??= this.#deps.presetLike(this.#voice.route)
    this.#failed = this.#route?.provider ?? this.#voice.route?.provider ?? null
    const delayMs = this.#retries.delayMs(fault, this.#deps.clock.monotonicMs())
    if (delayMs === null) {
      this.#isOver = true
      return this.#events.voiceLost(fault)
    }
    if (this.#isAudible) this.#played.broken()
    this.#isAudible = false
    this.#announced = []
    this.#cancelRetry = this.#deps.clock.after(delayMs, () => {
      this.#cancelRetry = null
      this.#open()
    })
  }
}
