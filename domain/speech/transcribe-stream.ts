import type { FrameAligner } from '../../audio/pcm.ts'
import type { Quantity } from '../billing/ledger.ts'
import type { Row } from '../catalog/catalog.ts'
import { type AttemptSignal, providerError } from '../dispatch/attempt-signal.ts'
import { type DispatchedRequest, dispatchRequest } from '../dispatch/dispatch.ts'
import type { DispatchDeps, Plan } from '../dispatch/request.ts'
import { errorClasses, ProviderError } from '../ports/provider-error.ts'
import type { StreamTranscript, Stt, SttStream } from '../ports/stt.ts'
import { Fault } from '../records/fault.ts'
import type { Ask } from '../routing/ask.ts'
import { type AttemptListener, AttemptSink } from './attempt-sink.ts'
import { AudioCredit, audioQuantity, creditSliceMs } from './audio-credit.ts'
import { AudioLayout } from './audio-layout.ts'
import { FrameBuffer } from './frame-buffer.ts'
import { RecentAudio } from './recent-audio.ts'
import type {
  StreamState,
  TranscribeStream,
  TranscribeStreamInput,
  TranscriptionSink,
  TranscriptionStream,
} from './stream.ts'
import { delayed, ignoredHints, streamAsk, streamRequest } from './stream-request.ts'

export type TranscribeStreamLimits = {
  /** Limits the time for one provider to open its stream. */
  openMs: number
  /** Limits a stream's duration. */
  totalMs: number
  /** Limits the audio that waits while the stream to a provider is being opened. */
  pendingBytesMax: number
  /**
   * Limits the audio that waits for an open provider. The limit must exceed `pendingBytesMax`, because pending audio is
   * sent all at once.
   */
  aheadMsMax: number
}

export type TranscribeStreamDeps = DispatchDeps & { streams: TranscribeStreamLimits }

/**
 * Returns a stream that accepts audio at once, while a provider is still being opened. Its sink is notified when a
 * provider is ready or if no provider could be opened.
 */
export function createTranscribeStream(deps: TranscribeStreamDeps): TranscribeStream {
  const { openMs, totalMs } = deps.streams
  const stt = { ...deps.limits.stt, firstByteMs: openMs, totalMs }
  const streamDeps = { ...deps, limits: { ...deps.limits, stt } }
  return (input, sink) => {
    const stream = new Transcribing(streamDeps, input, sink)
    void stream.open()
    return stream
  }
}

/** Limits the waiting audio in bytes too. A provider's socket can buffer more, so this limit is reached first. */
const aheadBytesMax = 24 * 1024 * 1024
/** A failover sends at most this much audio again. */
const replayMs = 10_000
/**
 * A real-time client may send audio faster than real time by this factor, because after a network pause it sends the
 * delayed audio.
 */
const inTimeShare = 1.5

/**
 * A stream of speech to text.
 *
 *   opening ──ready, pending audio sent──► streaming ──end──► ending ──ended──► over
 *      ▲                                      │                  │
 *      └── failover: once, before a transcript ┴─────────────────┘   a failure or leaving: over, from every state
 *
 * Every received sample is pending, was sent to the provider that is open now, or was lost in a failover.
 */
class Transcribing implements TranscriptionStream, AttemptListener {
  readonly #deps: TranscribeStreamDeps
  readonly #input: TranscribeStreamInput
  readonly #sink: TranscriptionSink
  readonly #layout: AudioLayout
  readonly #credit: AudioCredit
  readonly #aheadBytesMax: number
  readonly #startedMs: number
  #state: StreamState = 'opening'
  #isEnding = false
  /** Null until a chunk ends inside a sample. */
  #aligner: FrameAligner | null = null
  /** Audio that waits for a provider to open. An empty frame means a flush. */
  #pending: FrameBuffer | null = null
  /** The last sent audio, while a failover is possible. */
  #recent: RecentAudio | null = null
  #dispatched: DispatchedRequest<SttStream> | null = null
  #stream: SttStream | null = null
  /** The newest attempt's sink. Events from any other sink are ignored. */
  #activeSink: AttemptSink | null = null
  /** The newest attempt's signal. */
  #signal: AttemptSignal | null = null
  #hasTranscript = false
  #isReplaced = false
  #receivedSamples = 0
  #sentSamples = 0
  #lostSamples = 0

  constructor(deps: TranscribeStreamDeps, input: TranscribeStreamInput, sink: TranscriptionSink) {
    this.#deps = deps
    this.#input = input
    this.#sink = sink
    this.#layout = new AudioLayout(input.audio)
    this.#credit = new AudioCredit(this.#layout, (error) => this.#fail(error))
    this.#startedMs = deps.clock.monotonicMs()
    this.#aheadBytesMax = Math.min(aheadBytesMax, (deps.streams.aheadMsMax * this.#layout.bytesPerS) / 1000)
    if (input.replay) this.#recent = new RecentAudio(this.#layout, replayMs)
  }

  async open(): Promise<void> {
    await this.#whenOpen(this.#openFirst())
  }

  audio(bytes: Uint8Array): void {
    if (this.#state === 'over' || this.#isEnding) return
    const frame = this.#whole(bytes)
    if (frame.length === 0) return
    if (!this.#layout.isReadable(frame)) return this.#fail(new Fault({ kind: 'bad_packet' }))
    this.#receivedSamples += this.#layout.samplesOf(frame)
    if (this.#state === 'opening') return this.#hold(frame)
    this.#send(frame)
    if (this.#stream !== null && this.#stream.bufferedBytes > this.#aheadBytesMax)
      this.#fail(new Fault({ kind: 'audio_too_fast' }))
  }

  flush(): void {
    if (this.#state === 'opening' && !this.#isEnding) this.#hold(flushMark)
    else if (this.#state === 'streaming') this.#stream?.flush()
  }

  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    if (this.#state === 'streaming') this.#endStream()
  }

  leave(): void {
    if (this.#state === 'over') return
    this.#close(new ProviderError('cancelled', { sent: true }))
  }

  speechStarted(from: AttemptSink, startMs: number): void {
    if (this.#isActive(from) && this.#stream !== null) this.#sink.speechStarted?.(startMs + this.#offsetMs())
  }

  transcript(from: AttemptSink, transcript: StreamTranscript): void {
    if (!this.#isActive(from) || this.#stream === null) return
    if (!transcript.isFinal && !this.#input.interimResults) return
    this.#hasTranscript = true
    this.#recent = null
    if (this.#state === 'ending') this.#dispatched?.signal.expect(this.#deps.limits.stt.idleMs)
    this.#sink.transcript(this.#lostSamples === 0 ? transcript : delayed(transcript, this.#offsetMs()))
  }

  ended(from: AttemptSink, billedMs: number | undefined): void {
    if (this.#isActive(from)) this.#finish(billedMs)
  }

  failed(from: AttemptSink, error: ProviderError): void {
    // An adapter also reports a failure after its signal was aborted. The reason is already known then.
    if (this.#isActive(from) && !this.#signal?.aborted) this.#broke(error)
  }

  #isActive(sink: AttemptSink): boolean {
    return this.#activeSink === sink && this.#state !== 'over'
  }

  async #openFirst(): Promise<DispatchedRequest<SttStream>> {
    const ask = streamAsk(this.#input)
    const run: Plan<SttStream>['run'] = (row, signal, { speech }) => this.#openAt(speech?.stt, row, ask, signal)
    // In this plan `firstByteMs` limits the time to open the stream. It is not a measurement for the model's ranking,
    // because it does not show how soon speech becomes text.
    const plan = { ask, atOnce: false, worstCase: () => audioQuantity(creditSliceMs), run }
    return dispatchRequest(this.#deps, this.#input, plan)
  }

  #openAt(stt: Stt | undefined, row: Row, ask: Ask, signal: AttemptSignal): Promise<SttStream> {
    if (this.#state === 'over') throw new ProviderError('cancelled', { sent: false })
    if (!stt?.open) throw new ProviderError('unsupported', { sent: false })
    const sink = new AttemptSink(this)
    this.#activeSink = sink
    this.#signal = signal
    return stt.open(streamRequest(row, this.#input, ask), sink, signal)
  }

  async #whenOpen(opening: Promise<DispatchedRequest<SttStream>>): Promise<void> {
    try {
      this.#adopt(await opening)
    } catch (error) {
      this.#fail(error)
    }
  }

  #adopt(dispatched: DispatchedRequest<SttStream>): void {
    const stream = dispatched.value
    if (this.#state === 'over') {
      dispatched.fail(new ProviderError('cancelled', { sent: true }), [])
      return stream.close()
    }
    this.#dispatched = dispatched
    this.#stream = stream
    dispatched.signal.onEnd((error) => {
      // A failover also ends the failed attempt's signal. This must not end the stream.
      if (this.#isOpen(stream)) this.#fail(error)
    })
    this.#credit.opened(dispatched)
    if (this.#isOpen(stream)) this.#sink.ready(dispatched.route, ignoredHints(dispatched.row, this.#input))
    this.#catchUp(stream)
  }

  /**
   * Sends the waiting audio to the provider. Each call in this function may end the stream or start a failover, so the
   * state is checked again after each call.
   */
  #catchUp(stream: SttStream): void {
    if (this.#isReplaced) this.#sendAll(stream, this.#recent?.frames ?? null, (frame) => this.#sendOn(stream, frame))
    if (this.#isReplaced) this.#recent = null
    this.#sendAll(stream, this.#pending, (frame) => (frame.length > 0 ? this.#send(frame) : stream.flush()))
    if (!this.#isOpen(stream)) return
    this.#pending = null
    this.#state = 'streaming'
    if (this.#isEnding) this.#endStream()
  }

  #sendAll(stream: SttStream, frames: FrameBuffer | null, send: (frame: Uint8Array) => void): void {
    if (frames === null) return
    for (let frame = frames.peek(); frame !== null && this.#isOpen(stream); frame = frames.peek()) {
      send(frame)
      frames.drop()
    }
  }

  #isOpen(stream: SttStream): boolean {
    return this.#stream === stream && this.#state !== 'over'
  }

  /** Returns the samples that are complete now. If possible, the result shares memory with `bytes`. */
  #whole(bytes: Uint8Array): Uint8Array {
    if (this.#aligner === null && this.#layout.isWhole(bytes)) return bytes
    this.#aligner ??= this.#layout.aligner()
    return this.#aligner.push(bytes)
  }

  #hold(frame: Uint8Array): void {
    this.#pending ??= new FrameBuffer(this.#deps.streams.pendingBytesMax)
    if (!this.#pending.push(frame)) this.#fail(new Fault({ kind: this.#isInTime() ? 'timed_out' : 'audio_too_fast' }))
  }

  /**
   * Returns true if the client sends audio no faster than real time. If audio waits nevertheless, the provider is too
   * slow.
   */
  #isInTime(): boolean {
    const elapsedMs = this.#deps.clock.monotonicMs() - this.#startedMs
    return this.#layout.msOf(this.#receivedSamples) <= elapsedMs * inTimeShare
  }

  #send(frame: Uint8Array): void {
    if (this.#stream === null) return
    this.#recent?.push(frame)
    this.#sendOn(this.#stream, frame)
    this.#credit.sent(this.#sentSamples)
  }

  #sendOn(stream: SttStream, frame: Uint8Array): void {
    this.#sentSamples += this.#layout.samplesOf(frame)
    try {
      stream.audio(frame)
    } catch (thrown) {
      this.#broke(providerError(thrown))
    }
  }

  #endStream(): void {
    this.#state = 'ending'
    this.#dispatched?.signal.expect(this.#deps.limits.stt.idleMs)
    this.#stream?.end()
  }

  /** Returns the position in the stream's audio at which the current provider's times begin. */
  #offsetMs(): number {
    return this.#layout.msOf(this.#lostSamples)
  }

  #finish(billedMs: number | undefined): void {
    if (this.#state !== 'ending' || this.#dispatched === null)
      return this.#broke(new ProviderError('protocol', { sent: true, cause: new Error('the stream ended by itself') }))
    this.#state = 'over'
    const durationMs = Math.round(billedMs ?? this.#sentMs())
    const costMicroUsd = this.#dispatched.succeed(audioQuantity(durationMs))
    this.#stream?.close()
    this.#sink.ended({ durationMs, costMicroUsd })
  }

  #broke(error: ProviderError): void {
    // If no stream is open yet, only the attempt fails, and the next candidate is tried.
    if (this.#stream === null) return this.#signal?.end(error)
    if (this.#recent === null || this.#isReplaced || !errorClasses[error.errorClass].failover) return this.#fail(error)
    void this.#whenOpen(this.#failOver(error))
  }

  #failOver(error: ProviderError): Promise<DispatchedRequest<SttStream>> {
    this.#stream?.close()
    this.#stream = null
    this.#isReplaced = true
    this.#state = 'opening'
    this.#lostSamples = this.#sentSamples - (this.#recent?.samples ?? 0)
    this.#sentSamples = 0
    return this.#dispatched?.failOver(error) ?? Promise.reject(error)
  }

  #sentMs(): number {
    return this.#layout.msOf(this.#sentSamples)
  }

  /** Ends the stream because of `thrown`: a ProviderError, a Fault or a defect in our code. */
  #fail(thrown: unknown): void {
    if (this.#state === 'over') return
    const fault = this.#close(thrown)
    this.#sink.failed(fault instanceof Fault ? fault : new Fault({ kind: 'internal' }, { cause: fault }))
  }

  #close(thrown: unknown): unknown {
    this.#state = 'over'
    const fault = this.#dispatched?.fail(thrown, this.#owed(thrown)) ?? thrown
    // A provider may still be opening, at the start or in a failover.
    this.#signal?.end(new ProviderError('cancelled', { sent: true }))
    this.#stream?.close()
    const { requestId, callId, trace } = this.#input
    const [receivedMs, sentMs, lostMs] = [this.#receivedSamples, this.#sentSamples, this.#lostSamples].map((samples) =>
      Math.round(this.#layout.msOf(samples)),
    )
    const fields = { requestId, callId, ...trace?.logFields, receivedMs, sentMs, lostMs }
    this.#deps.log.info(fields, 'transcription ended early')
    return fault
  }

  /** Returns the quantity to bill: all sent audio, unless the provider failed before its first transcript. */
  #owed(thrown: unknown): Quantity[] {
    const isProviders = thrown instanceof ProviderError && thrown.errorClass !== 'cancelled'
    return isProviders && !this.#hasTranscript ? [] : audioQuantity(Math.round(this.#sentMs()))
  }
}

const flushMark = new Uint8Array(0)
