/**
 * Converts the caller's audio to one rate, then passes it to voice activity detection and speech to text.
 *
 *   media ─► 16 kHz ─┬─► VAD ─► echo gate ─► onset, offset
 *                    └─► speech to text ─► transcripts
 */
import type { CallerObserver } from '../../answering/caller-observer.ts'
import type { Clock, Log } from '../../ports/system.ts'
import { type Vad, type VadStream, vadRateHz } from '../../ports/vad.ts'
import type { OpenResampler, SampleConverter } from '../parts/deps.ts'
import { AudioTimeline } from './audio-timeline.ts'
import { EchoGate } from './echo-gate.ts'
import { SpeechDetector } from './speech-detector.ts'
import { SpeechEdge } from './speech-edge.ts'

/** The time when words were spoken, on the monotonic clock. Their transcript may arrive seconds later. */
export type Said = { startMs: number; endMs: number }

/**
 * Receives the start and the end of speech, as times on the monotonic clock. Each method is called some time after
 * `atMs`, because the detection needs further audio.
 */
export interface SpeechSpans {
  onset(atMs: number): void
  offset(atMs: number): void
}

export type ListeningOutput = {
  speech: SpeechSpans
  /** Receives the samples at `vadRateHz`. The buffer may be reused after the function returns. */
  audio(samples: Int16Array): void
  /** Receives audio and speech first, before `speech` and `audio` do. */
  observer: CallerObserver | null
}

/** Speech must last this long to count: two VAD frames, because a single loud frame is a click. */
const onsetMs = 64
/** Silence must last this long to end speech. A pause before a plosive is shorter. */
const offsetMs = 128
/** If no audio arrives for this time, speech counts as ended, because the client has muted its microphone. */
const mutedMs = 500
/** Limits the audio that waits for the resampler to open. Audio beyond the limit is dropped. */
const waitingMsMax = 1000
const samplesPerMs = vadRateHz / 1000

export class Listening {
  readonly #clock: Clock
  readonly #output: ListeningOutput
  readonly #vad: VadStream
  readonly #detector = new SpeechDetector({ onsetMs, offsetMs })
  readonly #gate = new EchoGate()
  readonly #edge = new SpeechEdge()
  readonly #timeline = new AudioTimeline()
  readonly #rateHz: number
  #converter: SampleConverter | null = null
  /** Audio that arrived before the resampler was open. */
  #waiting: Int16Array[] = []
  #waitingSamples = 0
  #talks = false
  #lastAudioMs = 0
  #cancelMuted: (() => void) | null = null
  #isClosed = false

  constructor(
    deps: {
      clock: Clock
      vad: Vad
      openResampler: OpenResampler
      log: Pick<Log, 'error'>
    },
    rateHz: number,
    output: ListeningOutput,
  ) {
    this.#clock = deps.clock
    this.#output = output
    this.#rateHz = rateHz
    this.#vad = deps.vad.open((probability) => this.#frame(probability))
    if (rateHz !== vadRateHz)
      deps.openResampler(rateHz, vadRateHz).then(
        (converter) => this.#opened(converter),
        (cause: unknown) => deps.log.error({ err: cause }, 'the audio of a session cannot be resampled'),
      )
  }

  /** Processes the caller's samples. The buffer may be reused after the function returns. */
  audio(samples: Int16Array): void {
    if (this.#isClosed) return
    if (this.#rateHz === vadRateHz) return this.#take(samples)
    if (this.#converter !== null) return this.#take(this.#converter.convert(samples))
    if (this.#waitingSamples > (waitingMsMax * this.#rateHz) / 1000) return
    this.#waiting.push(samples.slice())
    this.#waitingSamples += samples.length
  }

  /** Reports a frame with audio that is sent to the caller. Its echo must not count as speech. */
  agentFrame(samples: Int16Array): void {
    this.#gate.played(samples)
  }

  /** Call this when no audio arrives for a while. Any current speech then counts as ended. */
  silence(): void {
    this.#cancelMuted?.()
    this.#cancelMuted = null
    this.#detector.interrupt()
    if (!this.#talks) return
    this.#talks = false
    this.#ended(this.msOf(this.#detector.lastSpeechMs))
  }

  /**
   * Returns the time when the caller spoke the audio at this position in the stream, on the monotonic clock. Never
   * returns a future time.
   */
  msOf(streamMs: number): number {
    return Math.min(this.#timeline.at(streamMs), this.#clock.monotonicMs())
  }

  /** Converts both ends of a span as `msOf` does. */
  spanOf({ startMs, endMs }: { startMs: number; endMs: number }): Said {
    return { startMs: this.msOf(startMs), endMs: this.msOf(endMs) }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelMuted?.()
    this.#vad.close()
    this.#converter?.close()
  }

  #opened(converter: SampleConverter): void {
    if (this.#isClosed) return converter.close()
    this.#converter = converter
    for (const samples of this.#waiting) this.#take(converter.convert(samples))
    this.#waiting = []
  }

  #take(samples: Int16Array): void {
    if (samples.length === 0) return
    const nowMs = this.#clock.monotonicMs()
    this.#lastAudioMs = nowMs
    this.#timeline.push(samples.length / samplesPerMs, nowMs)
    this.#gate.microphone(samples)
    this.#edge.push(samples)
    this.#vad.push(samples)
    this.#output.observer?.audio(samples)
    this.#output.audio(samples)
  }

  #frame(probability: number): void {
    if (this.#isClosed) return
    const change = this.#detector.frame(this.#gate.pass(probability))
    if (change?.type === 'onset' && !this.#talks) {
      this.#talks = true
      this.#watchMuted(mutedMs)
      this.#started(this.msOf(change.atMs))
    } else if (change?.type === 'offset' && this.#talks) {
      this.#talks = false
      this.#cancelMuted?.()
      this.#ended(this.msOf(this.#edge.endNear(change.atMs)))
    }
  }

  #started(atMs: number): void {
    this.#output.observer?.onset(atMs)
    this.#output.speech.onset(atMs)
  }

  #ended(atMs: number): void {
    this.#output.observer?.offset(atMs)
    this.#output.speech.offset(atMs)
  }

  #watchMuted(delayMs: number): void {
    this.#cancelMuted?.()
    this.#cancelMuted = this.#clock.after(delayMs, () => {
      const sinceMs = this.#clock.monotonicMs() - this.#lastAudioMs
      if (sinceMs >= mutedMs) this.silence()
      else this.#watchMuted(mutedMs - sinceMs)
    })
  }
}
