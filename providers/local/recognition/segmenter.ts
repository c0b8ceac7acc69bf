/**
 * Cuts a sample stream into speech segments. The segments are short, because the recognizer misses words after about 25
 * s.
 *
 *   samples  ....####..###...................#########################################...
 *   segments   [            ]             [              ][                             ]
 *             pad  one segment  pad: a long pause closes    no pause for 15 s: cut where it is quietest
 *
 * A pad is 300 ms of silence included in the segment, before or after its speech. At most one segment is open, so
 * memory use does not depend on the recording's length.
 */

import { joinSamples } from '../../../audio/join.ts'
import { vadFrameSamples } from '../../../domain/ports/vad.ts'
import type { Vad } from '../vad/vad.ts'

export type SpeechSegment = {
  samples: Float32Array
  startMs: number
  endMs: number
  /** True if the segment ends at a pause. False if speech without a pause was cut. */
  endpoint: boolean
}

const rateHz = 16000
export const frameMs = (vadFrameSamples * 1000) / rateHz
/** The thresholds recommended by Silero: speech begins above the first probability and continues above the second. */
const beginsAbove = 0.5
const goesOnAbove = 0.35
const padFrames = Math.round(300 / frameMs)
const speechFramesMin = Math.round(96 / frameMs)
const segmentFramesMax = Math.floor(15_000 / frameMs)
/** A forced cut is made after this position in the segment, so that no segment is too short for recognition. */
const cutFromFrames = Math.round(6_000 / frameMs)

type Frame = { samples: Float32Array; speech: boolean; loudness: number }

export class Segmenter {
  readonly #vad: Vad
  readonly #pauseFrames: number
  /** The samples in the next frame, which is not complete yet. */
  #rest: Float32Array = new Float32Array(0)
  /** The open segment's frames with the pad before them. If no segment is open, only the frames for the next pad. */
  #frames: Frame[] = []
  /** The number of `#frames[0]`, counted in frames from the recording's start. */
  #firstFrame = 0
  #open = false
  #silentFrames = 0
  #speechFrames = 0

  /**
   * The VAD model keeps state between frames, so no other code may use `vad` until this segmenter has ended. A silence
   * of `pauseMs` closes a segment.
   */
  constructor(vad: Vad, pauseMs: number) {
    vad.reset()
    this.#vad = vad
    this.#pauseFrames = Math.max(1, Math.round(pauseMs / frameMs))
  }

  get open(): boolean {
    return this.#open
  }

  /** True if there is an open segment and it is longer than a click noise. */
  get speaking(): boolean {
    return this.#open && this.#speechFrames >= speechFramesMin
  }

  /** The number of frames in the recording so far. */
  get frameCount(): number {
    return this.#firstFrame + this.#frames.length
  }

  /** The time when the open segment's speech begins, from the recording's start. */
  get startMs(): number {
    return this.#placeMs(this.#frames.findIndex((frame) => frame.speech))
  }

  /** The number of silent frames at the open segment's end. */
  get silentFrames(): number {
    return this.#silentFrames
  }

  /**
   * True at the frame where the silence becomes as long as the pad. If a pause closes the segment before more speech
   * comes, the segment will be exactly as `peek` returns it now.
   */
  get settled(): boolean {
    return this.#open && this.#silentFrames === padFrames
  }

  /** Returns the open segment, as if it were closed now. */
  peek(): SpeechSegment | undefined {
    return this.#open ? this.#segment(this.#spokenFrames(), true) : undefined
  }

  /** Closes the open segment without waiting for a pause. */
  close(): SpeechSegment | undefined {
    return this.#open ? this.#close() : undefined
  }

  /** Takes 16 kHz mono samples and yields each segment when it is complete. */
  async *push(samples: Float32Array): AsyncGenerator<SpeechSegment> {
    const available = this.#rest.length === 0 ? samples : joinSamples([this.#rest, samples])
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
    const last = this.close()
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
    if (speech) this.#speechFrames++
    if (this.#silentFrames >= this.#pauseFrames) return this.#close()
    if (this.#frames.length >= segmentFramesMax) return this.#cut()
    return undefined
  }

  /** Counts the open segment's frames up to the end of its closing pad. Further silence does not count. */
  #spokenFrames(): number {
    return this.#frames.length - Math.max(0, this.#silentFrames - padFrames)
  }

  /** Closes the open segment. The frames after it become the next segment's pad. */
  #close(): SpeechSegment | undefined {
    const count = this.#spokenFrames()
    const segment = this.#segment(count, true)
    this.#open = false
    this.#silentFrames = 0
    this.#speechFrames = 0
    this.#forget(Math.max(count, this.#frames.length - padFrames))
    return segment
  }

  #cut(): SpeechSegment | undefined {
    const at = quietest(this.#frames, cutFromFrames)
    const segment = this.#segment(at, false)
    this.#forget(at)
    this.#speechFrames = this.#frames.filter((frame) => frame.speech).length
    return segment
  }

  #segment(count: number, endpoint: boolean): SpeechSegment | undefined {
    const frames = this.#frames.slice(0, count)
    if (frames.filter((frame) => frame.speech).length < speechFramesMin) return undefined
    const first = frames.findIndex((frame) => frame.speech)
    const last = frames.findLastIndex((frame) => frame.speech)
    // After a forced cut, speech begins without silence before it, and the recognizer then often finds no word. So
    // silence is added.
    const missing = Math.max(0, padFrames - first)
    return {
      samples: joinSamples([new Float32Array(missing * vadFrameSamples), ...frames.map((frame) => frame.samples)]),
      startMs: this.#placeMs(first),
      endMs: this.#placeMs(last + 1),
      endpoint,
    }
  }

  #placeMs(frame: number): number {
    return Math.round((this.#firstFrame + frame) * frameMs)
  }

  #forget(count: number): undefined {
    if (count <= 0) return
    this.#frames.splice(0, count)
    this.#firstFrame += count
  }
}

/** Finds the three quietest frames in a row and returns the middle frame's index. */
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
