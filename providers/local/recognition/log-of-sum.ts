/**
 * In a sum of exponentials, values this far below the highest value change nothing, so they are skipped to save time.
 * Most values are even lower.
 */
const negligible = -20

/** Adds the values' exponentials, and returns the sum's natural logarithm. */
export function logOfSum(values: Float32Array): number {
  let most = Number.NEGATIVE_INFINITY
  for (const value of values) if (value > most) most = value
  let sum = 0
  for (const value of values) if (value - most > negligible) sum += Math.exp(value - most)
  return most + Math.log(sum)
}
