/**
 * Runs speech to text for a whole session. The first audio opens a stream. When a stream ends, another is opened, and
 * the router chooses a provider again. The current turn's last audio is then sent again.
 *
 *   closed ──audio──► open ──failed──► waiting ──► open …
 *   after 10 s without a working stream: speech to text is lost
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
import type { StageEvents } from '../parts/conversation-events.ts'
import { type FailoverRecord, recordRoute } from '../parts/failover-record.ts'
import { StageRetries } from '../parts/stage-retries.ts'
import { UserText } from '../words/user-text.ts'

export type TranscriptionEvents = {
  /** Called with each transcript. Its times are positions in the session's whole audio. */
  transcript(transcript: StreamTranscript): void
}

export type TranscriptionDeps = {
  clock: Clock
  transcribeStream: TranscribeStream
  request: (signal: CancelSignal) => RequestContext
  record: FailoverRecord
  events: StageEvents
}

/** A stream counts as working once it has stayed open for this long, even if it recognized no word. */
const workedMs = 2000
/** When a stream is replaced, at most this much audio from the current turn is sent again. */
const replayedMs = 10_000
const layout = new AudioLayout(callerAudio)

export class Transcription {
  /** The words in the user's current turn. The turn adds each transcript to the text. */
  readonly text = new UserText()
  readonly #deps: TranscriptionDeps
  readonly #pipeline: Pipeline
  readonly #routing: Routing
  readonly #events: TranscriptionEvents
  readonly #abort = new AbortController()
  #stream: TranscriptionStream | null = null
  #attempt = 0
  #route: Route | null = null
  /** The audio since the last user turn ended. */
  #recent = new RecentAudio(layout, replayedMs)
  #samples = 0
  /** The position in the session's audio where the open stream's audio begins. */
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

  /** Returns the open stream's route, or the last stream's route if no stream is open. */
  get route(): Route | null {
    return this.#route
  }

  /** Returns the time at which the stream opened, on the monotonic clock. Null while the stream is opening. */
  get readyMs(): number | null {
    return this.#readyMs
  }

  /** Sends samples at `vadRateHz` to the stream. The buffer may be reused after the function returns. */
  audio(samples: Int16Array): void {
    if (this.#isClosed) return
    const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
    this.#recent.push(bytes)
    this.#samples += samples.length
    if (this.#stream !== null) this.#stream.audio(bytes)
    else if (this.#cancelRetry === null) this.#open()
  }

  /** Asks the provider for the final text now, because the user is silent. */
  flush(): void {
    this.#stream?.flush()
  }

  /** Drops the kept audio, because the user's turn is over and its audio is never sent again. */
  forgetAudio(): void {
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
    const nowMs = this.#deps.clock.monotonicMs()
    if (!this.text.reopened(nowMs, replayedMs)) this.forgetAudio()
    if (this.#readyMs !== null && nowMs - this.#readyMs >= workedMs) this.#retries.worked()
    this.#readyMs = null
    const delayMs = this.#retries.delayMs(fault, nowMs)
    if (delayMs === null) {
      // The agent may still say goodbye. Each frame until then would open a new stream, which fails again.
      this.close()
      return this.#deps.events.stageLost(fault)
    }
    this.#cancelRetry = this.#deps.clock.after(delayMs, () => {
      this.#cancelRetry = null
      this.#open()
    })
  }
}
