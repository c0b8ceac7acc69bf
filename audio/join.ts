/** Joins the parts in order. A single part is not copied. */
export function joinSamples(parts: readonly Float32Array[]): Float32Array {
  if (parts.length === 1) return parts[0]!
  const joined = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
