/**
 * Prevents the agent's echo in the microphone from counting as the caller's speech. Only sound levels are compared. A
 * microphone frame is echo if it is no louder than the agent's loudest frame in the last `delayMsMax`, less the
 * coupling between loudspeaker and microphone. So the echo's delay need not be known.
 *
 * The coupling begins at −20 dB and follows the loudest echo frames: down if a headset prevents echo, and up a little
 * if the echo is louder. Time is counted in microphone frames.
 */
import { vadFrameSamples, vadLateFramesMax, vadRateHz } from '../../ports/vad.ts'

const vadFrameMs = (vadFrameSamples * 1000) / vadRateHz
/**
 * The longest time from playing a frame to its last echo: half a second for network and buffers, and the room's
 * reverberation.
 */
const delayMsMax = 700
const windowFrames = Math.ceil(delayMsMax / vadFrameMs)
const couplingDb = { start: -20, min: -40, max: -14 }
/** A microphone frame up to this much louder than the coupling is still echo, because a room's echo can be louder. */
const marginDb = 6
/** Agent frames below this level count as pauses, because the VAD does not detect their weak echo as speech. */
const agentDbMin = -55
/** The coupling adapts to the loudest echo within this many frames that contain agent speech: 3 s. */
const learnFrames = 94
/**
 * After every `learnFrames` frames with agent speech, the coupling moves by this fraction of its difference from the
 * loudest echo, down or up.
 */
const learnDown = 0.5
const learnUp = 0.25
/**
 * Verdicts are kept for this many frames. Each verdict is needed until the VAD has answered for its frame, so a shorter
 * list would lose verdicts.
 */
const verdictsMax = vadLateFramesMax + 1
const fullScale = 32_768
const silenceDb = -100

export class EchoGate {
  /** For each recent microphone frame, the level of the loudest agent frame played during it. */
  readonly #playedDb = new Float64Array(windowFrames).fill(silenceDb)
  #at = 0
  #energy = 0
  #samples = 0
  readonly #verdicts: boolean[] = []
  #couplingDb = couplingDb.start
  #loudestEcho = Number.NEGATIVE_INFINITY
  #framesOfAgent = 0

  /** Returns the echo's level relative to the agent's voice, in dB. Negative. */
  get couplingDb(): number {
    return this.#couplingDb
  }

  /** Records the level of a frame when it is sent to the caller. The frame may have any sample rate. */
  played(samples: Int16Array): void {
    const db = decibels(energyOf(samples, 0, samples.length) / samples.length)
    if (db > this.#playedDb[this.#at]!) this.#playedDb[this.#at] = db
  }

  /** Decides if the microphone's samples, at `vadRateHz`, are echo. The VAD must receive the same samples. */
  microphone(samples: Int16Array): void {
    for (let from = 0; from < samples.length; ) {
      const to = Math.min(samples.length, from + vadFrameSamples - this.#samples)
      this.#energy += energyOf(samples, from, to)
      this.#samples += to - from
      from = to
      if (this.#samples === vadFrameSamples) this.#frame()
    }
  }

  /**
   * Filters the VAD's answers, which must arrive in order. Returns the probability, or 0 if the answer's frame is echo.
   */
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
