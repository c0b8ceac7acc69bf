/**
 * A discrete Fourier transform for one size, by Stockham's algorithm: each stage reads one pair of arrays and writes
 * the other pair in order, so no bit reversal is needed, and nothing is allocated in a run.
 *
 * In a stage with radix p, the numbers form `left * p` blocks with `stride` numbers each:
 *
 *   next[stride * (p * k + r)] = w^(k * r) * sum over j: now[stride * (k + left * j)] * e^(-2 pi i j r / p)
 */

/** The radices with a specialized butterfly. */
const radices = [4, 5, 3] as const
type Radix = (typeof radices)[number]

type Stage = { radix: Radix; left: number; stride: number; cos: Float64Array; sin: Float64Array }

export class FourierTransform {
  /** The input before `run`, and the result afterwards. `run` exchanges the arrays. */
  re: Float64Array
  im: Float64Array
  #nextRe: Float64Array
  #nextIm: Float64Array
  readonly #stages: readonly Stage[]

  /** `size` has no prime factors but 2 (in pairs), 3 and 5. */
  constructor(size: number) {
    this.re = new Float64Array(size)
    this.im = new Float64Array(size)
    this.#nextRe = new Float64Array(size)
    this.#nextIm = new Float64Array(size)
    this.#stages = stagesOf(size)
  }

  run(): void {
    for (const stage of this.#stages) {
      butterflies[stage.radix](stage, this.re, this.im, this.#nextRe, this.#nextIm)
      const re = this.re
      const im = this.im
      this.re = this.#nextRe
      this.im = this.#nextIm
      this.#nextRe = re
      this.#nextIm = im
    }
  }
}

function stagesOf(size: number): Stage[] {
  const stages: Stage[] = []
  let left = size
  for (const radix of radices)
    while (left % radix === 0) {
      const angle = (-2 * Math.PI) / left
      left /= radix
      const powers = Array.from({ length: left * radix }, (_, at) => angle * Math.floor(at / radix) * (at % radix))
      const cos = Float64Array.from(powers, Math.cos)
      stages.push({ radix, left, stride: size / left / radix, cos, sin: Float64Array.from(powers, Math.sin) })
    }
  if (left !== 1) throw new RangeError(`no transform for ${size} numbers`)
  return stages
}

type Butterfly = (stage: Stage, re: Float64Array, im: Float64Array, outRe: Float64Array, outIm: Float64Array) => void

const butterflies: Readonly<Record<Radix, Butterfly>> = {
  3: (stage, re, im, outRe, outIm) => {
    const { left, stride, cos, sin } = stage
    const step = stride * left
    for (let k = 0; k < left; k++) {
      const c1 = cos[3 * k + 1]!
      const s1 = sin[3 * k + 1]!
      const c2 = cos[3 * k + 2]!
      const s2 = sin[3 * k + 2]!
      for (let at = stride * k, to = 3 * stride * k; at < stride * (k + 1); at++, to++) {
        const sumRe = re[at + step]! + re[at + 2 * step]!
        const sumIm = im[at + step]! + im[at + 2 * step]!
        const midRe = re[at]! - sumRe / 2
        const midIm = im[at]! - sumIm / 2
        const turnRe = sin60 * (im[at + step]! - im[at + 2 * step]!)
        const turnIm = sin60 * (re[at + 2 * step]! - re[at + step]!)
        outRe[to] = re[at]! + sumRe
        outIm[to] = im[at]! + sumIm
        const re1 = midRe + turnRe
        const im1 = midIm + turnIm
        const re2 = midRe - turnRe
        const im2 = midIm - turnIm
        outRe[to + stride] = re1 * c1 - im1 * s1
        outIm[to + stride] = re1 * s1 + im1 * c1
        outRe[to + 2 * stride] = re2 * c2 - im2 * s2
        outIm[to + 2 * stride] = re2 * s2 + im2 * c2
      }
    }
  },
  4: (stage, re, im, outRe, outIm) => {
    const { left, stride, cos, sin } = stage
    const step = stride * left
    for (let k = 0; k < left; k++) {
      const c1 = cos[4 * k + 1]!
      const c2 = cos[4 * k + 2]!
      const c3 = cos[4 * k + 3]!
      const s1 = sin[4 * k + 1]!
      const s2 = sin[4 * k + 2]!
      const s3 = sin[4 * k + 3]!
      for (let at = stride * k, to = 4 * stride * k; at < stride * (k + 1); at++, to++) {
        const b = at + step
        const c = at + 2 * step
        const d = at + 3 * step
        const evenRe = re[at]! + re[c]!
        const evenIm = im[at]! + im[c]!
        const oddRe = re[b]! + re[d]!
        const oddIm = im[b]! + im[d]!
        const flatRe = re[at]! - re[c]!
        const flatIm = im[at]! - im[c]!
        const turnRe = im[b]! - im[d]!
        const turnIm = re[d]! - re[b]!
        outRe[to] = evenRe + oddRe
        outIm[to] = evenIm + oddIm
        const re1 = flatRe + turnRe
        const im1 = flatIm + turnIm
        const re2 = evenRe - oddRe
        const im2 = evenIm - oddIm
        const re3 = flatRe - turnRe
        const im3 = flatIm - turnIm
        outRe[to + stride] = re1 * c1 - im1 * s1
        outIm[to + stride] = re1 * s1 + im1 * c1
        outRe[to + 2 * stride] = re2 * c2 - im2 * s2
        outIm[to + 2 * stride] = re2 * s2 + im2 * c2
        outRe[to + 3 * stride] = re3 * c3 - im3 * s3
        outIm[to + 3 * stride] = re3 * s3 + im3 * c3
      }
    }
  },
  5: (stage, re, im, outRe, outIm) => {
    const { left, stride, cos, sin } = stage
    const step = stride * left
    for (let k = 0; k < left; k++) {
      const c1 = cos[5 * k + 1]!
      const c2 = cos[5 * k + 2]!
      const c3 = cos[5 * k + 3]!
      const c4 = cos[5 * k + 4]!
      const s1 = sin[5 * k + 1]!
      const s2 = sin[5 * k + 2]!
      const s3 = sin[5 * k + 3]!
      const s4 = sin[5 * k + 4]!
      for (let at = stride * k, to = 5 * stride * k; at < stride * (k + 1); at++, to++) {
        const b = at + step
        const c = at + 2 * step
        const d = at + 3 * step
        const e = at + 4 * step
        const outerRe = re[b]! + re[e]!
        const outerIm = im[b]! + im[e]!
        const innerRe = re[c]! + re[d]!
        const innerIm = im[c]! + im[d]!
        const outerDiffRe = re[b]! - re[e]!
        const outerDiffIm = im[b]! - im[e]!
        const innerDiffRe = re[c]! - re[d]!
        const innerDiffIm = im[c]! - im[d]!
        outRe[to] = re[at]! + outerRe + innerRe
        outIm[to] = im[at]! + outerIm + innerIm
        const nearRe = re[at]! + cos72 * outerRe + cos144 * innerRe
        const nearIm = im[at]! + cos72 * outerIm + cos144 * innerIm
        const farRe = re[at]! + cos144 * outerRe + cos72 * innerRe
        const farIm = im[at]! + cos144 * outerIm + cos72 * innerIm
        const nearTurnRe = sin72 * outerDiffIm + sin144 * innerDiffIm
        const nearTurnIm = sin72 * outerDiffRe + sin144 * innerDiffRe
        const farTurnRe = sin144 * outerDiffIm - sin72 * innerDiffIm
        const farTurnIm = sin144 * outerDiffRe - sin72 * innerDiffRe
        const re1 = nearRe + nearTurnRe
        const im1 = nearIm - nearTurnIm
        const re4 = nearRe - nearTurnRe
        const im4 = nearIm + nearTurnIm
        const re2 = farRe + farTurnRe
        const im2 = farIm - farTurnIm
        const re3 = farRe - farTurnRe
        const im3 = farIm + farTurnIm
        outRe[to + stride] = re1 * c1 - im1 * s1
        outIm[to + stride] = re1 * s1 + im1 * c1
        outRe[to + 2 * stride] = re2 * c2 - im2 * s2
        outIm[to + 2 * stride] = re2 * s2 + im2 * c2
        outRe[to + 3 * stride] = re3 * c3 - im3 * s3
        outIm[to + 3 * stride] = re3 * s3 + im3 * c3
        outRe[to + 4 * stride] = re4 * c4 - im4 * s4
        outIm[to + 4 * stride] = re4 * s4 + im4 * c4
      }
    }
  },
}

const sin60 = Math.sin(Math.PI / 3)
const [cos72, sin72] = [Math.cos((2 * Math.PI) / 5), Math.sin((2 * Math.PI) / 5)]
const [cos144, sin144] = [Math.cos((4 * Math.PI) / 5), Math.sin((4 * Math.PI) / 5)]
