import type { FrameAligner } from '../../audio/pcm.ts'
import type { Quantity } from '../billing/ledger.ts'
import type { Row } from '../catalog/catalog.ts'
import { type AttemptSignal, providerError } from '../dispatch/attempt-signal.ts'
import { type DispatchedRequest, dispatchRequest } from '../dispatch/dispatch.ts'
import type { DispatchDeps, Plan } from '../dispatch/request.ts'
import { Fault } from '../fault.ts'
import { errorClasses, ProviderError } from '../ports/provider-error.ts'
import type { Ask } from '../routing/ask.ts'
import { type AudioLayout, layoutOf } from './audio-layout.ts'
import { FrameBuffer } from './frame-buffer.ts'
import { RecentAudio } from './recent-audio.ts'
import type { TranscribeStream, TranscribeStreamInput, TranscriptionSink, TranscriptionStream } from './stream.ts'
import { delayed, streamAsk, streamRequest } from './stream-request.ts'
import type { StreamTranscript, Stt, SttStream, SttStreamSink } from './stt.ts'

export type TranscribeStreamLimits = {
  /** One provider's time to open. */
  openMs: number
  /** The longest session. */
  totalMs: number
  /** Audio that waits for a provider to open. */
  pendingBytesMax: number
  /** Audio that a provider has not taken yet. More than what may be pending, which comes all at once. */
  aheadMsMax: number
}

export type TranscribeStreamDeps = DispatchDeps & { streams: TranscribeStreamLimits }

/** A session that opens behind its caller's back: it takes audio at once, and tells its listener when a provider listens or none does. */
export function createTranscribeStream(deps: TranscribeStreamDeps): TranscribeStream {
  const { openMs, totalMs } = deps.streams
  const stt = { ...deps.limits.stt, firstByteMs: openMs, totalMs }
  const own = { ...deps, limits: { ...deps.limits, stt } }
  return (order, listener) => {
    const session = new Transcribing(own, order, listener)
    void session.open()
    return session
  }
}

/** What a swap sends again at most. */
const replayMs = 10_000
/** Credit is reserved a minute at a time, a little before it is needed: never a query for a frame. */
const sliceMs = 60_000
const sliceLeadMs = 5000

/**
 *   opening ──ready, pending audio sent──► streaming ──end──► ending ──ended──► over
 *      ▲                                      │                  │
 *      └── replay: once, before a transcript ─┴──────────────────┘   a failure or leaving: over, from everywhere
 *
 * Every sample that came in is pending, was sent to the provider that listens now, or was lost in a swap.
 */
class Transcribing implements TranscriptionStream, SttStreamSink {
  // What a frame touches stands together and comes first, in whole numbers and references alone: a fraction, or Infinity, would be an object of its
  // own, and with thousands of streams each line of memory is a wait.
  #state: 'opening' | 'streaming' | 'ending' | 'over' = 'opening'
  #endAsked = false
  /** For chunks that are not whole samples; null as long as none came. */
  #aligner: FrameAligner | null = null
  #stream: SttStream | null = null
  readonly #layout: AudioLayout
  readonly #aheadBytesMax: number
  #receivedSamples = 0
  #sentSamples = 0
  /** Null where it costs nothing, and while the question is asked. */
  #reserveAtSamples: number | null = null
  /** The last audio sent, while a swap is possible. */
  #recent: RecentAudio | null = null
  /** Whom the attempt that was made last tells: nobody else is heard. */
  #teller: SttStreamSink | null = null
  readonly #interimResults: boolean
  #hasHeard = false
  #lostSamples = 0
  readonly #sink: TranscriptionSink
  readonly #deps: TranscribeStreamDeps
  readonly #input: TranscribeStreamInput
  #dispatched: DispatchedRequest<SttStream> | null = null
  /** Of the attempt that was made last. */
  #signal: AttemptSignal | null = null
  /** An empty frame stands for a flush. */
  #pending: FrameBuffer | null = null
  #swapped = false
  #reservedMs = sliceMs

  constructor(deps: TranscribeStreamDeps, order: TranscribeStreamInput, listener: TranscriptionSink) {
    this.#deps = deps
    this.#input = order
    this.#sink = listener
    this.#layout = layoutOf(order.audio)
    this.#aheadBytesMax = (deps.streams.aheadMsMax * this.#layout.bytesPerS) / 1000
    this.#interimResults = order.interimResults
    if (order.replay) this.#recent = new RecentAudio(this.#layout, replayMs)
  }

  async open(): Promise<void> {
    await this.#whenOpen(this.#openFirst())
  }

  audio(bytes: Uint8Array): void {
    if (this.#state === 'over' || this.#endAsked) return
    const frame = this.#whole(bytes)
    if (frame.length === 0) return
    this.#receivedSamples += this.#layout.samplesOf(frame)
    if (this.#state === 'opening') return this.#hold(frame)
    this.#send(frame)
    if (this.#stream !== null && this.#stream.bufferedBytes > this.#aheadBytesMax)
      this.#fail(new Fault({ kind: 'audio_too_fast' }))
  }

  flush(): void {
    if (this.#state === 'opening' && !this.#endAsked) this.#hold(flushMark)
    else if (this.#state === 'streaming') this.#stream?.flush()
  }

  end(): void {
    if (this.#endAsked) return
    this.#endAsked = true
    if (this.#state === 'streaming') this.#endStream()
  }

  leave(): void {
    if (this.#state === 'over') return
    this.#close(new ProviderError('cancelled', { sent: true }))
  }

  async #openFirst(): Promise<DispatchedRequest<SttStream>> {
    const ask = streamAsk(this.#input)
    const run: Plan<SttStream>['run'] = (row, call, { speech }) => this.#openAt(speech?.stt, row, ask, call)
    // The time to open is what `firstByteMs` means here. Live figures get none of it: it says nothing of how soon speech becomes text.
    return dispatchRequest(this.#deps, this.#input, { ask, atOnce: false, worstCase: () => heard(sliceMs), run })
  }

  #openAt(stt: Stt | undefined, row: Row, ask: Ask, call: AttemptSignal): Promise<SttStream> {
    if (this.#state === 'over') throw new ProviderError('cancelled', { sent: false })
    if (!stt?.open) throw new ProviderError('unsupported', { sent: false })
    // The first tells the session itself: nearly all have no other, and it is one object less that a frame touches.
    this.#teller = this.#signal === null ? this : new LaterAttempt(this)
    this.#signal = call
    return stt.open(streamRequest(row, this.#input, ask), this.#teller, call)
  }

  speechStarted(startMs: number, teller: SttStreamSink = this): void {
    if (this.#hears(teller) && this.#stream !== null) this.#sink.speechStarted(startMs + this.#offsetMs())
  }

  transcript(transcript: StreamTranscript, teller: SttStreamSink = this): void {
    if (this.#hears(teller) && this.#stream !== null) this.#hear(transcript)
  }

  ended(billedMs?: number, teller: SttStreamSink = this): void {
    if (this.#hears(teller)) this.#finish(billedMs)
  }

  failed(error: ProviderError, teller: SttStreamSink = this): void {
    // An adapter that was told to stop says so; why it was told is known to the call.
    if (this.#hears(teller) && !this.#signal?.aborted) this.#broke(error)
  }

  /** What an earlier attempt still tells is not heard. */
  #hears(teller: SttStreamSink): boolean {
    return this.#teller === teller && this.#state !== 'over'
  }

  async #whenOpen(opening: Promise<DispatchedRequest<SttStream>>): Promise<void> {
    try {
      this.#adopt(await opening)
    } catch (error) {
      this.#fail(error)
    }
  }

  #adopt(exchange: DispatchedRequest<SttStream>): void {
    const stream = exchange.value
    if (this.#state === 'over') {
      exchange.fail(new ProviderError('cancelled', { sent: true }), [])
      return stream.close()
    }
    this.#dispatched = exchange
    this.#stream = stream
    exchange.signal.onEnd((error) => {
      // A swap ends the call of the one that failed.
      if (this.#isListening(stream)) this.#fail(error)
    })
    this.#reserveAtSamples = exchange.costs(heard(sliceMs)) ? this.#reservedSamples() : null
    if (this.#isListening(stream)) this.#sink.ready(exchange.route)
    this.#catchUp(stream)
  }

  /** Whatever is called in here may end the session or swap the stream. */
  #catchUp(stream: SttStream): void {
    if (this.#swapped) this.#sendAll(stream, this.#recent?.frames ?? null, (frame) => this.#sendOn(stream, frame))
    if (this.#swapped) this.#recent = null
    this.#sendAll(stream, this.#pending, (frame) => (frame.length > 0 ? this.#send(frame) : stream.flush()))
    if (!this.#isListening(stream)) return
    this.#pending = null
    this.#state = 'streaming'
    if (this.#endAsked) this.#endStream()
  }

  #sendAll(stream: SttStream, frames: FrameBuffer | null, send: (frame: Uint8Array) => void): void {
    if (frames === null) return
    for (let frame = frames.peek(); frame !== null && this.#isListening(stream); frame = frames.peek()) {
      send(frame)
      frames.drop()
    }
  }

  #isListening(stream: SttStream): boolean {
    return this.#stream === stream && this.#state !== 'over'
  }

  /** The whole samples that there are now. Shares memory with `bytes` where it can. */
  #whole(bytes: Uint8Array): Uint8Array {
    if (this.#aligner === null && this.#layout.isWhole(bytes)) return bytes
    this.#aligner ??= this.#layout.aligner()
    return this.#aligner.push(bytes)
  }

  #hold(frame: Uint8Array): void {
    this.#pending ??= new FrameBuffer(this.#deps.streams.pendingBytesMax)
    if (!this.#pending.push(frame)) this.#fail(new Fault({ kind: 'audio_too_fast' }))
  }

  #send(frame: Uint8Array): void {
    if (this.#stream === null) return
    this.#recent?.push(frame)
    this.#sendOn(this.#stream, frame)
    if (this.#reserveAtSamples !== null && this.#sentSamples >= this.#reserveAtSamples) void this.#reserveSlice()
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

  #hear(transcript: StreamTranscript): void {
    if (!transcript.isFinal && !this.#interimResults) return
    this.#hasHeard = true
    this.#recent = null
    if (this.#state === 'ending') this.#dispatched?.signal.expect(this.#deps.limits.stt.idleMs)
    this.#sink.transcript(this.#lostSamples === 0 ? transcript : delayed(transcript, this.#offsetMs()))
  }

  /** What a provider that took over counts as its start. */
  #offsetMs(): number {
    return this.#layout.msOf(this.#lostSamples)
  }

  #finish(billedMs: number | undefined): void {
    if (this.#state !== 'ending' || this.#dispatched === null)
      return this.#broke(new ProviderError('protocol', { sent: true, cause: new Error('the stream ended by itself') }))
    this.#state = 'over'
    const durationMs = Math.round(billedMs ?? this.#sentMs())
    const costMicroUsd = this.#dispatched.succeed(heard(durationMs))
    this.#stream?.close()
    this.#sink.ended({ durationMs, costMicroUsd })
  }

  #broke(error: ProviderError): void {
    // Before it is adopted: the attempt fails, and the next candidate is tried.
    if (this.#stream === null) return this.#signal?.end(error)
    if (this.#recent === null || this.#swapped || !errorClasses[error.errorClass].failover) return this.#fail(error)
    void this.#whenOpen(this.#swap(error))
  }

  #swap(error: ProviderError): Promise<DispatchedRequest<SttStream>> {
    this.#stream?.close()
    this.#stream = null
    this.#swapped = true
    this.#state = 'opening'
    this.#lostSamples = this.#sentSamples - (this.#recent?.samples ?? 0)
    this.#sentSamples = 0
    return this.#dispatched?.failOver(error) ?? Promise.reject(error)
  }

  async #reserveSlice(): Promise<void> {
    // One question at a time, and as much as what came meanwhile needs.
    this.#reserveAtSamples = null
    const amountMs = Math.max(0, this.#sentMs() - this.#reservedMs) + sliceMs
    try {
      if (!(await this.#dispatched?.reserve(heard(amountMs))))
        return this.#fail(new Fault({ kind: 'credit_exhausted' }))
      this.#reservedMs += amountMs
      this.#reserveAtSamples = this.#reservedSamples()
    } catch (error) {
      this.#fail(error)
    }
  }

  #reservedSamples(): number {
    return this.#layout.samplesIn(this.#reservedMs - sliceLeadMs)
  }

  #sentMs(): number {
    return this.#layout.msOf(this.#sentSamples)
  }

  /** Ends the session with what went wrong: a ProviderError, a Fault or what is our own. */
  #fail(thrown: unknown): void {
    if (this.#state === 'over') return
    const fault = this.#close(thrown)
    this.#sink.failed(fault instanceof Fault ? fault : new Fault({ kind: 'internal' }, { cause: fault }))
  }

  #close(thrown: unknown): unknown {
    this.#state = 'over'
    const fault = this.#dispatched?.fail(thrown, this.#owed(thrown)) ?? thrown
    // An opening under way, the first or that of a swap.
    this.#signal?.end(new ProviderError('cancelled', { sent: true }))
    this.#stream?.close()
    const { requestId } = this.#input
    const [receivedMs, sentMs, lostMs] = [this.#receivedSamples, this.#sentSamples, this.#lostSamples].map((samples) =>
      Math.round(this.#layout.msOf(samples)),
    )
    this.#deps.log.info({ requestId, receivedMs, sentMs, lostMs }, 'transcription ended early')
    return fault
  }

  /** What was sent is owed, except to a provider that broke before it told anything. */
  #owed(thrown: unknown): Quantity[] {
    const isProviders = thrown instanceof ProviderError && thrown.errorClass !== 'cancelled'
    return isProviders && !this.#hasHeard ? [] : heard(Math.round(this.#sentMs()))
  }
}

/** The ear of an attempt that is not the session's first. An object and not closures, because a session keeps it for hours. */
class LaterAttempt implements SttStreamSink {
  readonly #session: Transcribing

  constructor(session: Transcribing) {
    this.#session = session
  }

  speechStarted(startMs: number): void {
    this.#session.speechStarted(startMs, this)
  }

  transcript(transcript: StreamTranscript): void {
    this.#session.transcript(transcript, this)
  }

  ended(billedMs?: number): void {
    this.#session.ended(billedMs, this)
  }

  failed(error: ProviderError): void {
    this.#session.failed(error, this)
  }
}

const flushMark = new Uint8Array(0)

function heard(ms: number): Quantity[] {
  return [{ unit: 'audio_milliseconds', amount: ms }]
}
