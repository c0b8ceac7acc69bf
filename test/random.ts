/**
 * Makes random choices that can be repeated. Usual test runs always make the same choices, so a failure comes from the
 * change under test. Long test runs take another seed each time (PARLEY_TEST_SEED).
 */
import fc from 'fast-check'

export const seed = Number(process.env['PARLEY_TEST_SEED'] ?? 20_261_127)

// If a property fails, fast-check prints this seed and the path to the failing values.
fc.configureGlobal({ seed: seed % 2 ** 31 })

export { fc }

/** Returns a generator (mulberry32). The same seed gives the same numbers. */
export function random(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
