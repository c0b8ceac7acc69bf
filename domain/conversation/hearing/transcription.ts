/**
 * The speech to text of a whole session. A stream is opened with the first audio and again whenever one ends, so that
 * the router chooses anew; the last audio of the turn is then sent again.
 *
 *   closed ──audio──► open ──failed──► waiting ──► open …       10 s without a stream that works: nobody is left
 */
import type { RequestContext, Route } from '../../dispatch/request.ts'
import type { StreamTranscript } from '../../ports/stt.ts'
import type { CancelSignal, Clock } from '../../ports/system.ts'
import { callerAudio } from '../../ports/vad.ts'
import type { Fault } from '../../records/fault.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import type { Routing } from '../../routing/ask.ts'
import { AudioLayout } from '../../speech/audio-layout.ts'
import { RecentAudio } from '../../speech/recent-audio.ts'
import { recognitionOf } from '../../speech/session-routes.ts'
import type { TranscribeStream, TranscriptionSink, TranscriptionStream } from '../../speech/stream.ts'
import { delayed } from '../../speech/stream-request.ts'
import { type FailoverRecord, recordRoute } from '../parts/failover-record.ts'
import { StageRetries } from '../parts/stage-retries.ts'

export type TranscriptionEvents = {
  /** Its times are places in all audio of the session. */
  transcript(transcript: StreamTranscript): void
  /** Another stream begins to count its utterances. True: it gets the last audio again. */
  reopened(): boolean
  /** No provider is left: see StageRetries. */
  lost(fault: Fault): void
}

export type TranscriptionDeps = {
  clock: Clock
  transcribeStream: TranscribeStream
  request: (signal: CancelSignal) => RequestContext
  record: FailoverRecord
}

/** A stream that was open for this long has worked, also without a word. */
const workedMs = 2000
/** At most this much of the turn that is under way is sent again. */
export const replayedMs = 10_000
const layout = new AudioLayout(callerAudio)

export class Transcription {
  readonly #deps: TranscriptionDeps
  readonly #pipeline: Pipeline
  readonly #routing: Routing
  readonly #events: TranscriptionEvents
  readonly #abort = new AbortController()
  #stream: TranscriptionStream | null = null
  #attempt = 0
  #route: Route | null = null
  /** The audio since the last turn was taken. */
  #recent = new RecentAudio(layout, replayedMs)
  #samples = 0
  /** Where the audio of the stream that is open begins. */
  #startMs = 0
  #readyMs: number | null = null
  readonly #retries = new StageRetries()
  #cancelRetry: (() => void) | null = null
  #isClosed = false

  constructor(deps: TranscriptionDeps, pipeline: Pipeline, routing: Routing, events: TranscriptionEvents) {
    this.#deps = deps
    this.#pipeline = pipeline
    this.#routing = routing
    this.#events = events
  }

  /** The route of the stream that works, or of the last one. */
  get route(): Route | null {
    return this.#route
  }

  /** When the stream was opened, on the monotonic clock. Null: it is being opened. */
  get readyMs(): number | null {
    return this.#readyMs
  }

  /** Samples at `vadRateHz`, lent until it returns. */
  audio(samples: Int16Array): void {
    if (this.#isClosed) return
    const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
    this.#recent.push(bytes)
    this.#samples += samples.length
    if (this.#stream !== null) this.#stream.audio(bytes)
    else if (this.#cancelRetry === null) this.#open()
  }

  /** The user is silent: the text becomes final now. */
  flush(): void {
    this.#stream?.flush()
  }

  /** The turn was taken: its audio is not needed again. */
  taken(): void {
    this.#recent = new RecentAudio(layout, replayedMs)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelRetry?.()
    this.#stream?.leave()
    this.#abort.abort()
  }

  #open(): void {
    const attempt = ++this.#attempt
    const isActive = () => attempt === this.#attempt && !this.#isClosed
    const input = {
      ...this.#deps.request(this.#abort.signal),
      routing: this.#routing,
      ...recognitionOf(this.#pipeline),
      interimResults: true,
      endpointingMs: this.#pipeline.turnHandling.endpointing.minDelay,
      replay: true,
    }
    const stream = this.#deps.transcribeStream(input, this.#sink(isActive))
    if (!isActive()) return
    this.#stream = stream
    this.#startMs = layout.msOf(this.#samples - this.#recent.samples)
    const frames = this.#recent.frames
    this.#recent = new RecentAudio(layout, replayedMs)
    for (let frame = frames.peek(); frame !== null; frame = frames.peek()) {
      this.#recent.push(frame)
      stream.audio(frame)
      frames.drop()
    }
  }

  #sink(isActive: () => boolean): TranscriptionSink {
    return {
      ready: (route) => {
        if (isActive()) this.#ready(route)
      },
      speechStarted: () => {},
      transcript: (transcript) => {
        if (!isActive()) return
        this.#retries.worked()
        this.#events.transcript(delayed(transcript, this.#startMs))
      },
      ended: () => {},
      failed: (fault) => {
        if (isActive()) this.#failed(fault)
      },
    }
  }

  #ready(route: Route): void {
    const from = this.#route
    this.#readyMs = this.#deps.clock.monotonicMs()
    this.#route = route
    recordRoute(this.#deps.record, 'stt', from, route)
  }

  #failed(fault: Fault): void {
    this.#stream = null
    this.#attempt += 1
    if (!this.#events.reopened()) this.taken()
    const nowMs = this.#deps.clock.monotonicMs()
    if (this.#readyMs !== null && nowMs - this.#readyMs >= workedMs) this.#retries.worked()
    this.#readyMs = null
    const delayMs = this.#retries.delayMs(fault, nowMs)
    if (delayMs === null) return this.#events.lost(fault)
    this.#cancelRetry = this.#deps.clock.after(delayMs, () => {
      this.#cancelRetry = null
      this.#open()
    })
  }
}
