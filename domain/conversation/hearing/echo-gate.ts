/**
 * Keeps the echo of the agent's voice in the microphone from counting as speech of the caller. Only levels are compared: a
 * frame of the microphone is explained by echo if it is no louder than the loudest frame that the agent played in the
 * last `delayMsMax`, less the coupling of loudspeaker and microphone. So the delay of the echo need not be known.
 *
 * The coupling begins at −20 dB and follows the loudest frames that were explained, down when a headset lets nothing
 * through, and up a little when the echo is louder. Time is counted in frames of the microphone.
 */
import { vadFrameSamples, vadLateFramesMax, vadRateHz } from '../../ports/vad.ts'

const vadFrameMs = (vadFrameSamples * 1000) / vadRateHz
/** Half a second of network and buffers, and the time in which a room answers. */
const delayMsMax = 700
const windowFrames = Math.ceil(delayMsMax / vadFrameMs)
const couplingDb = { start: -20, min: -40, max: -14 }
/** The echo of a room is up to this much louder than the coupling says. */
const marginDb = 6
/** Quieter frames of the agent are pauses, which make no echo that a VAD takes for speech. */
const agentDbMin = -55
/** The coupling is compared with the loudest echo of this many frames in which the agent spoke: 3 s. */
const learnFrames = 94
/** The coupling moves by this part of the difference. */
const learnDown = 0.5
const learnUp = 0.25
/** A verdict waits for the answer of the VAD to its frame, so none may be dropped before. */
const verdictsMax = vadLateFramesMax + 1
const fullScale = 32_768
const silenceDb = -100

export class EchoGate {
  /** The loudest frame that was played during each of the last frames of the microphone. */
  readonly #playedDb = new Float64Array(windowFrames).fill(silenceDb)
  #at = 0
  #energy = 0
  #samples = 0
  readonly #verdicts: boolean[] = []
  #couplingDb = couplingDb.start
  #loudestEcho = Number.NEGATIVE_INFINITY
  #framesOfAgent = 0

  /** How much quieter than the agent its echo is taken to be. */
  get couplingDb(): number {
    return this.#couplingDb
  }

  /** One frame that is sent to the caller, at any sample rate, when it is sent. */
  played(samples: Int16Array): void {
    const db = decibels(energyOf(samples, 0, samples.length) / samples.length)
    if (db > this.#playedDb[this.#at]!) this.#playedDb[this.#at] = db
  }

  /** The samples that the VAD gets, at `vadRateHz`. */
  microphone(samples: Int16Array): void {
    for (let from = 0; from < samples.length; ) {
      const to = Math.min(samples.length, from + vadFrameSamples - this.#samples)
      this.#energy += energyOf(samples, from, to)
      this.#samples += to - from
      from = to
      if (this.#samples === vadFrameSamples) this.#frame()
    }
  }

  /** Called in order with each answer of the VAD: the same probability, or 0 if echo explains the frame. */
  pass(speechProbability: number): number {
    return this.#verdicts.shift() ? 0 : speechProbability
  }

  #frame(): void {
    const agentDb = this.#playedDb.reduce((loudest, db) => Math.max(loudest, db), silenceDb)
    const excessDb = decibels(this.#energy / vadFrameSamples) - agentDb
    const isEcho = agentDb > agentDbMin && excessDb <= this.#couplingDb + marginDb
    if (this.#verdicts.length === verdictsMax) this.#verdicts.shift()
    this.#verdicts.push(isEcho)
    if (isEcho && this.#playedDb[this.#at]! > agentDbMin) this.#learn(excessDb)
    this.#energy = 0
    this.#samples = 0
    this.#at = (this.#at + 1) % windowFrames
    this.#playedDb[this.#at] = silenceDb
  }

  #learn(excessDb: number): void {
    this.#loudestEcho = Math.max(this.#loudestEcho, excessDb)
    if (++this.#framesOfAgent < learnFrames) return
    const difference = this.#loudestEcho - this.#couplingDb
    const moved = this.#couplingDb + difference * (difference < 0 ? learnDown : learnUp)
    this.#couplingDb = Math.min(couplingDb.max, Math.max(couplingDb.min, moved))
    this.#loudestEcho = Number.NEGATIVE_INFINITY
    this.#framesOfAgent = 0
  }
}

function energyOf(samples: Int16Array, from: number, to: number): number {
  let energy = 0
  for (let i = from; i < to; i++) energy += samples[i]! * samples[i]!
  return energy
}

function decibels(meanSquare: number): number {
  return meanSquare <= 0 ? silenceDb : 10 * Math.log10(meanSquare / (fullScale * fullScale))
}
