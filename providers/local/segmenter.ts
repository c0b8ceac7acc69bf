/**
 * Cuts a stream of samples into stretches of speech that the recogniser can take at once: it loses words beyond about 25 s.
 *
 *   samples  ....####..###...................#########################################...
 *   segments   [            ]             [              ][                             ]
 *             pad  one segment  pad: a long pause closes    no pause for 15 s: cut where it is quietest
 *
 * Never more than one open segment is held, whatever the length of the recording.
 */
import type { Vad } from './vad.ts'
import { vadFrameSamples } from './vad.ts'

export type SpeechSegment = { samples: Float32Array; startMs: number; endMs: number }

const rateHz = 16000
const frameMs = (vadFrameSamples * 1000) / rateHz
/** Silero's own thresholds: speech begins above the first, goes on above the second. */
const beginsAbove = 0.5
const goesOnAbove = 0.35
const padFrames = Math.round(300 / frameMs)
const pauseFrames = Math.round(640 / frameMs)
const speechFramesMin = Math.round(96 / frameMs)
const segmentFramesMax = Math.floor(15_000 / frameMs)
/** A forced cut looks for its place from here to the end, so that no piece gets too short to be understood. */
const cutFromFrames = Math.round(6_000 / frameMs)

type Frame = { samples: Float32Array; speech: boolean; loudness: number }

export class Segmenter {
  readonly #vad: Vad
  /** What does not fill a frame yet. */
  #rest: Float32Array = new Float32Array(0)
  /** The open segment with its leading pad; outside of speech only the pad. */
  #frames: Frame[] = []
  /** Counted from the start of the recording: the first of #frames. */
  #firstFrame = 0
  #open = false
  #silentFrames = 0

  /** The model keeps state between frames, so a segmenter owns it until it is done. */
  constructor(vad: Vad) {
    vad.reset()
    this.#vad = vad
  }

  /** 16 kHz mono. Yields segments as they are complete. */
  async *push(samples: Float32Array): AsyncGenerator<SpeechSegment> {
    const available = this.#rest.length === 0 ? samples : concat([this.#rest, samples])
    let at = 0
    for (; at + vadFrameSamples <= available.length; at += vadFrameSamples) {
      const segment = await this.#take(available.slice(at, at + vadFrameSamples))
      if (segment) yield segment
    }
    this.#rest = available.slice(at)
  }

  async *end(): AsyncGenerator<SpeechSegment> {
    if (this.#rest.length > 0) {
      const frame = new Float32Array(vadFrameSamples)
      frame.set(this.#rest)
      const segment = await this.#take(frame)
      if (segment) yield segment
    }
    const last = this.#open ? this.#close(this.#frames.length) : undefined
    if (last) yield last
  }

  async #take(samples: Float32Array): Promise<SpeechSegment | undefined> {
    const probability = await this.#vad.speechProbability(samples)
    const speech = probability > (this.#open ? goesOnAbove : beginsAbove)
    this.#frames.push({ samples, speech, loudness: loudness(samples) })
    if (!this.#open) {
      if (!speech) return this.#forget(this.#frames.length - padFrames)
      this.#open = true
    }
    this.#silentFrames = speech ? 0 : this.#silentFrames + 1
    if (this.#silentFrames >= pauseFrames) return this.#close(this.#frames.length - this.#silentFrames + padFrames)
    if (this.#frames.length >= segmentFramesMax) return this.#cut()
    return undefined
  }

  /** Ends the segment after `count` frames; what follows becomes the pad of the next one. */
  #close(count: number): SpeechSegment | undefined {
    const segment = this.#segment(count)
    this.#open = false
    this.#silentFrames = 0
    this.#forget(Math.max(count, this.#frames.length - padFrames))
    return segment
  }

  #cut(): SpeechSegment | undefined {
    const at = quietest(this.#frames, cutFromFrames)
    const segment = this.#segment(at)
    this.#forget(at)
    return segment
  }

  #segment(count: number): SpeechSegment | undefined {
    const frames = this.#frames.slice(0, count)
    if (frames.filter((frame) => frame.speech).length < speechFramesMin) return undefined
    const first = frames.findIndex((frame) => frame.speech)
    const last = frames.findLastIndex((frame) => frame.speech)
    return {
      samples: concat(frames.map((frame) => frame.samples)),
      startMs: Math.round((this.#firstFrame + first) * frameMs),
      endMs: Math.round((this.#firstFrame + last + 1) * frameMs),
    }
  }

  #forget(count: number): undefined {
    if (count <= 0) return
    this.#frames.splice(0, count)
    this.#firstFrame += count
  }
}

/** The middle of the three frames in a row that are least loud. */
function quietest(frames: readonly Frame[], from: number): number {
  let best = frames.length - 1
  let bestLoudness = Infinity
  for (let i = from; i + 1 < frames.length; i++) {
    const around = frames[i - 1]!.loudness + frames[i]!.loudness + frames[i + 1]!.loudness
    if (around > bestLoudness) continue
    best = i
    bestLoudness = around
  }
  return best
}

function loudness(samples: Float32Array): number {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return sum
}

function concat(parts: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
