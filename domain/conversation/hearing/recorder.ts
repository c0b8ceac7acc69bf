/**
 * Records a call as stereo WAV, PCM16 at 16 kHz. The caller is on the left channel. The agent and people who joined are
 * on the right channel. A sample's position in the file is its time in the call.
 *
 *   ring   [ flushed | settled | the last two seconds, which may still get audio | free ]
 *
 * Every `flushMs` the settled part goes to the file, so little is lost if the process dies. Memory is bounded: if the
 * disk is too slow, the recording fails.
 */
import { wavHeader } from '../../../audio/wav.ts'
import type { Clock, Log } from '../../ports/system.ts'
import {
  recordingFrameBytes as bytesPerFrame,
  recordingLayout as layout,
  type Recordings,
} from '../../records/recording.ts'
import type { RecordedVoice } from '../parts/deps.ts'
import { type GrowingFile, RecordedPeaks } from './recorded-peaks.ts'

export const recordingRateHz = layout.sampleRateHz
const { channels } = layout
const framesPerMs = recordingRateHz / 1000
const flushMs = 5000
/**
 * Spreads the writes of calls that begin together over this many points in each interval `flushMs`, because 100 writes
 * at once would block the event loop for 50 ms.
 */
const flushTurns = 20
let recorders = 0
/**
 * Audio may reach the recorder this long after its playout, because the agent's audio is recorded only after the client
 * has returned its mark. Audio after this time is lost.
 */
const settleMs = 2000
/** The ring holds two more seconds, for clients that send audio faster than real time. */
const ringFrames = (flushMs + settleMs + 2000) * framesPerMs
/** At most one minute of audio may wait to be written. If more audio waits, the recording fails. */
const waitingBytesMax = 60_000 * framesPerMs * bytesPerFrame

export type RecorderOptions = {
  file: GrowingFile
  peaks: GrowingFile
  clock: Clock
  log: Log
  endsAs: 'ready' | 'uploading'
}

/**
 * If a caller's audio is late by up to this time, it still follows the previous audio without a gap. Audio arrives in
 * bursts after a network stall, and no part of a burst may be lost.
 */
const callerToleranceMs = 2000
/**
 * If audio lags by more than `max` throughout `during`, the client has left a gap. The following audio is then moved by
 * this lag.
 */
export const lagMs = { max: 60, during: 2000 }
/**
 * Audio cannot arrive before it was spoken. So if audio seems early, the previous audio was placed too late, and
 * silence is removed until the audio is at its time again. If audio is earlier than this limit, its client sends faster
 * than real time, and no silence is removed.
 */
const earlyMsMax = 200
const silenceBelow = 100
/**
 * If the agent's audio deviates from its expected time by up to this, it still follows the previous audio without a
 * gap. The client returns each mark when the audio before it was played. The times come from these returns, which take
 * a varying time.
 */
const agentToleranceMs = 100

export class Recorder {
  readonly caller: RecordedVoice
  readonly agent: RecordedVoice
  readonly endsAs: 'ready' | 'uploading'
  readonly #options: RecorderOptions
  readonly #ring = new Int16Array(ringFrames * channels)
  readonly #startedMs: number
  readonly #peaks: RecordedPeaks
  /** The frames written to the file so far. */
  #flushed = 0
  #waitingBytes = 0
  #work: Promise<void>
  #failed = false
  #cancelFlush: () => void

  /** Starts the recording now. */
  constructor(options: RecorderOptions) {
    this.#options = options
    this.endsAs = options.endsAs
    this.#startedMs = options.clock.monotonicMs()
    this.caller = this.#voice(0, callerToleranceMs)
    this.agent = this.#voice(1, agentToleranceMs)
    this.#peaks = new RecordedPeaks(options.peaks, options.log)
    this.#work = options.file.append(wavHeader(layout, null)).catch((error: unknown) => this.#fail(error))
    const firstMs = (flushMs * ((recorders++ % flushTurns) + 1)) / flushTurns
    this.#cancelFlush = options.clock.after(firstMs, () => this.#flushAndGoOn())
  }

  /** Opens a voice in the recording for a person who has joined the call. */
  joiner(): RecordedVoice {
    return this.#voice(1, callerToleranceMs)
  }

  /**
   * Ends the recording when its call ends. Resolves with the length in ms, or with null if the recording has failed.
   */
  async close(): Promise<number | null> {
    this.#cancelFlush()
    this.#flush(this.#nowFrame())
    await this.#work
    await this.#peaks.close()
    const { file } = this.#options
    try {
      try {
        if (!this.#failed) await file.replaceStart(wavHeader(layout, this.#flushed * bytesPerFrame))
      } finally {
        await file.close()
      }
    } catch (error) {
      this.#fail(error)
    }
    return this.#failed ? null : Math.round(this.#flushed / framesPerMs)
  }

  #voice(channel: 0 | 1, toleranceMs: number): RecordedVoice {
    return new Voice(this.#startedMs, toleranceMs, (samples, place) => this.#mix(samples, place, channel))
  }

  /**
   * Mixes the samples into the channel, because several people can speak on one side. Samples outside the ring are
   * lost.
   */
  #mix(samples: Int16Array, place: number, channel: 0 | 1): void {
    const from = Math.max(0, this.#flushed - place)
    const to = Math.min(samples.length, this.#flushed + ringFrames - place)
    for (let i = from; i < to; i++) {
      const at = ((place + i) % ringFrames) * channels + channel
      this.#ring[at] = Math.max(-32_768, Math.min(32_767, this.#ring[at]! + samples[i]!))
    }
  }

  #flushAndGoOn(): void {
    this.#flush(this.#nowFrame() - settleMs * framesPerMs)
    if (!this.#failed) this.#cancelFlush = this.#options.clock.after(flushMs, () => this.#flushAndGoOn())
  }

  #nowFrame(): number {
    return Math.round((this.#options.clock.monotonicMs() - this.#startedMs) * framesPerMs)
  }

  /**
   * Moves the frames before `end` to the file. If the process was busy for longer than the ring, the missing part is
   * silence.
   */
  #flush(end: number): void {
    while (this.#flushed < end && !this.#failed) {
      const frames = Math.min(end - this.#flushed, ringFrames)
      this.#append(this.#take(frames))
    }
  }

  /**
   * Takes the next frames from the ring. Samples are copied without conversion, because WAV and all supported
   * processors are little-endian.
   */
  #take(frames: number): Uint8Array {
    const samples = new Int16Array(frames * channels)
    const from = (this.#flushed * channels) % this.#ring.length
    const first = Math.min(samples.length, this.#ring.length - from)
    for (const [start, end, to] of [
      [from, from + first, 0],
      [0, samples.length - first, first],
    ] as const) {
      samples.set(this.#ring.subarray(start, end), to)
      this.#ring.fill(0, start, end)
    }
    this.#flushed += frames
    this.#peaks.add(samples)
    return new Uint8Array(samples.buffer)
  }

  #append(bytes: Uint8Array): void {
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes > waitingBytesMax) return this.#fail(new Error('the file of the recording is too slow'))
    this.#work = this.#work.then(async () => {
      if (this.#failed) return
      try {
        await this.#options.file.append(bytes)
        this.#waitingBytes -= bytes.length
      } catch (error) {
        this.#fail(error)
      }
    })
  }

  #fail(err: unknown): void {
    if (this.#failed) return
    this.#failed = true
    this.#cancelFlush()
    this.#options.log.warn({ err }, 'recording failed')
  }
}

/**
 * Completes the recording file of a process that died. Resolves with its length in ms, or with null if the file is
 * missing or has no full header.
 */
export async function salvage(recordings: Pick<Recordings, 'open'>, callId: string): Promise<number | null> {
  const file = await recordings.open(callId)
  if (file === null) return null
  const headerBytes = wavHeader(layout, null).length
  const frames = Math.floor((file.size - headerBytes) / bytesPerFrame)
  if (frames >= 0) await file.replaceStart(wavHeader(layout, frames * bytesPerFrame))
  await file.close()
  return frames < 0 ? null : Math.round(frames / framesPerMs)
}

class Voice implements RecordedVoice {
  readonly #startedMs: number
  readonly #toleranceMs: number
  readonly #mix: (samples: Int16Array, place: number) => void
  /** The frame at which the next samples are placed. If null, their time determines the frame. */
  #next: number | null = null
  /** The audio's smallest lag behind its expected time since `#lagSinceMs`. */
  #leastLag = Number.POSITIVE_INFINITY
  #lagSinceMs = 0

  constructor(startedMs: number, toleranceMs: number, mix: (samples: Int16Array, place: number) => void) {
    this.#startedMs = startedMs
    this.#toleranceMs = toleranceMs
    this.#mix = mix
  }

  write(samples: Int16Array, endMs: number): void {
    const place = Math.round((endMs - this.#startedMs) * framesPerMs) - samples.length
    const next = this.#placeNear(place, endMs)
    const rest = samples.subarray(this.#samplesToLeaveOut(samples))
    this.#mix(rest, next)
    this.#next = next + rest.length
  }

  #samplesToLeaveOut(samples: Int16Array): number {
    const early = -this.#leastLag
    if (early <= 0 || early > earlyMsMax * framesPerMs || !isSilent(samples)) return 0
    const count = Math.min(samples.length, early)
    this.#leastLag += count
    return count
  }

  restart(): void {
    this.#next = null
  }

  #placeNear(place: number, endMs: number): number {
    const lag = this.#next === null ? Number.POSITIVE_INFINITY : place - this.#next
    if (lag > this.#toleranceMs * framesPerMs) return this.#measureFrom(place, endMs)
    this.#leastLag = Math.min(this.#leastLag, lag)
    const next = place - lag
    if (endMs - this.#lagSinceMs < lagMs.during) return next
    return this.#measureFrom(this.#leastLag > lagMs.max * framesPerMs ? next + this.#leastLag : next, endMs)
  }

  #measureFrom(place: number, endMs: number): number {
    this.#leastLag = Number.POSITIVE_INFINITY
    this.#lagSinceMs = endMs
    return place
  }
}

function isSilent(samples: Int16Array): boolean {
  return samples.every((sample) => Math.abs(sample) < silenceBelow)
}
