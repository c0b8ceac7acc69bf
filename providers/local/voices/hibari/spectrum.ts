/**
 * The voice's graph predicts a spectrum for each frame in three parts: harmonics (a filter for pulses at the pitch),
 * noise, and a part with a free phase. `lh`, `ln` and `lr` are logarithms:
 *
 *   spectrum = e^lh * e^(i pi tanh(theta)) * harmonics + e^ln * noise + e^lr * e^(i phi)
 */

/** The graph's outputs, each as `bins` rows with a number for each frame, and the pitch in Hz for each frame. */
export type Frames = Readonly<Record<'lh' | 'theta' | 'ln' | 'lr' | 'phi' | 'f0', Float32Array>>

/** A spectrum, and the pulses' spectrum. */
export type Bins = { re: Float64Array; im: Float64Array }

/** A logarithm above this is an error in the prediction. */
const logMax = 7
/** A magnitude with a logarithm below this cannot be heard. */
const logMin = -16
const perLog = 512
const magnitudes = Float32Array.from({ length: (logMax - logMin) * perLog + 1 }, (_, at) =>
  Math.exp(logMin + at / perLog),
)

/**
 * The steps in a full circle (2 pi), which must be a power of two. Sixteen thousand steps keep the error below -68 dB.
 */
const turnSteps = 16_384
const perRadian = turnSteps / (2 * Math.PI)
const cosines = Float32Array.from({ length: turnSteps }, (_, at) => Math.cos(at / perRadian))
const sines = Float32Array.from({ length: turnSteps }, (_, at) => Math.sin(at / perRadian))

/** Beyond this value the hyperbolic tangent is 1. */
const thetaMax = 6
const perTheta = 1024
const thetaTurns = Int32Array.from({ length: 2 * thetaMax * perTheta + 1 }, (_, at) =>
  Math.round(Math.PI * Math.tanh(at / perTheta - thetaMax) * perRadian),
)

/** Pairs of normally distributed numbers. The same sentence always gets the same noise. */
const noiseLength = 65_536
const noise = normalNumbers(noiseLength, 20_261_129)

/** Each frame reads the random numbers from this much further on than the frame before. */
const noiseStep = 2 * 1217

/**
 * Writes one frame's spectrum to `out`. `pulses` is the pulses' spectrum in this frame, or null if the frame has
 * no pitch.
 */
export function frameSpectrum(frames: Frames, frame: number, pulses: Bins | null, out: Bins): void {
  const count = frames.f0.length
  const bins = out.re.length
  let noiseAt = (frame * noiseStep) % noiseLength
  for (let bin = 0, at = frame; bin < bins; bin++, at += count) {
    const noiseLevel = magnitudes[magnitudeIndex(frames.ln[at]!)]!
    const freeLevel = magnitudes[magnitudeIndex(frames.lr[at]!)]!
    const phase = Math.round(frames.phi[at]! * perRadian) & (turnSteps - 1)
    out.re[bin] = noiseLevel * noise[noiseAt]! + freeLevel * cosines[phase]!
    out.im[bin] = noiseLevel * noise[noiseAt + 1]! + freeLevel * sines[phase]!
    noiseAt = (noiseAt + 2) % noiseLength
  }
  if (pulses !== null) addHarmonics(frames, frame, pulses, out)
}

function addHarmonics(frames: Frames, frame: number, pulses: Bins, out: Bins): void {
  const count = frames.f0.length
  const bins = out.re.length
  for (let bin = 0, at = frame; bin < bins; bin++, at += count) {
    const level = magnitudes[magnitudeIndex(frames.lh[at]!)]!
    const turn = thetaTurns[thetaIndex(frames.theta[at]!)]! & (turnSteps - 1)
    const re = level * cosines[turn]!
    const im = level * sines[turn]!
    out.re[bin] = out.re[bin]! + pulses.re[bin]! * re - pulses.im[bin]! * im
    out.im[bin] = out.im[bin]! + pulses.re[bin]! * im + pulses.im[bin]! * re
  }
}

function magnitudeIndex(log: number): number {
  return ((Math.min(logMax, Math.max(logMin, log)) - logMin) * perLog + 0.5) | 0
}

function thetaIndex(theta: number): number {
  return ((Math.min(thetaMax, Math.max(-thetaMax, theta)) + thetaMax) * perTheta + 0.5) | 0
}

/** Returns numbers with mean 0 and variance 1 (Box and Muller), from a linear congruential generator. */
function normalNumbers(length: number, seed: number): Float32Array {
  let state = seed
  const uniform = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  const numbers = new Float32Array(length)
  for (let at = 0; at < length; at += 2) {
    const radius = Math.sqrt(-2 * Math.log(uniform()))
    const angle = 2 * Math.PI * uniform()
    numbers[at] = radius * Math.cos(angle)
    numbers[at + 1] = radius * Math.sin(angle)
  }
  return numbers
}
