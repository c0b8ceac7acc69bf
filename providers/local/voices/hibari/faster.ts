/**
 * Shortens speech and keeps its pitch (WSOLA): overlapping pieces of the input are added at a smaller distance. Each
 * piece is moved by up to half a pitch period, to the position that continues the piece before it best.
 */

const pieceSamples = 600
const step = pieceSamples / 2
/** A period of the voice has at most this many samples on each side, at 75 Hz. */
const shiftMax = 160
/** Every second sample is enough to find the best position. */
const searchStep = 2
const window = Float32Array.from(
  { length: pieceSamples },
  (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / pieceSamples),
)

/** `factor` is more than 1: with 2, the result has half as many samples. */
export function shortened(samples: Float32Array, factor: number): Float32Array {
  const result = new Float32Array(Math.floor(samples.length / factor))
  let continued = 0
  for (let to = 0; to < result.length; to += step) {
    const from = to === 0 ? 0 : bestPlace(samples, Math.round(to * factor), continued)
    for (let at = 0; at < pieceSamples && to + at < result.length; at++) {
      const weight = to === 0 && at < step ? 1 : window[at]!
      result[to + at] = result[to + at]! + weight * (samples[from + at] ?? 0)
    }
    continued = from + step
  }
  return result
}

/** Returns the position near `wanted` where the samples are most like the samples at `continued`. */
function bestPlace(samples: Float32Array, wanted: number, continued: number): number {
  let best = wanted
  let most = Number.NEGATIVE_INFINITY
  for (let place = Math.max(0, wanted - shiftMax); place <= wanted + shiftMax; place += searchStep) {
    let likeness = 0
    for (let at = 0; at < pieceSamples; at += searchStep)
      likeness += (samples[place + at] ?? 0) * (samples[continued + at] ?? 0)
    if (likeness > most) {
      most = likeness
      best = place
    }
  }
  return best
}
