/** Compares two short recordings by their average spectra. */

const sampleRateHz = 16_000
/** Twenty frequencies between 200 and 6000 Hz, with equal ratios. */
const frequenciesHz = Array.from({ length: 20 }, (_, i) => 200 * 30 ** (i / 19))
const frame = 400
/** The pieces are compared in this many steps, so the sounds' order counts. */
const steps = 5

/** Returns the correlation of the two spectra, at most 1. */
export function similarity(a: Int16Array, b: Int16Array): number {
  return correlation(spectra(a), spectra(b))
}

function spectra(samples: Int16Array): number[] {
  const length = Math.floor(samples.length / steps)
  return Array.from({ length: steps }, (_, step) =>
    spectrum(samples.subarray(step * length, (step + 1) * length)),
  ).flat()
}

function spectrum(samples: Int16Array): number[] {
  const sums = frequenciesHz.map(() => 0)
  for (let at = 0; at + frame <= samples.length; at += frame / 2)
    for (const [i, frequencyHz] of frequenciesHz.entries())
      sums[i]! += power(samples.subarray(at, at + frame), frequencyHz)
  return sums.map((sum) => Math.log(sum + 1))
}

/** The power at one frequency, by Goertzel's algorithm. */
function power(samples: Int16Array, frequencyHz: number): number {
  const factor = 2 * Math.cos((2 * Math.PI * frequencyHz) / sampleRateHz)
  let [last, before] = [0, 0]
  for (const sample of samples) [last, before] = [sample / 32_768 + factor * last - before, last]
  return (last ** 2 + before ** 2 - factor * last * before) * 1e6
}

function correlation(a: readonly number[], b: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanA, meanB] = [mean(a), mean(b)]
  let [both, squareA, squareB] = [0, 0, 0]
  for (const [i, value] of a.entries()) {
    const [inA, inB] = [value - meanA, b[i]! - meanB]
    both += inA * inB
    squareA += inA ** 2
    squareB += inB ** 2
  }
  return both / Math.sqrt(squareA * squareB)
}
