/**
 * Sorts row numbers by 28-bit keys, with a radix sort. For 500 rows a comparator takes 39 µs, a native sort with the
 * index in the key 27 µs, and this sort 7 µs. A whole routing decision may take 50 µs.
 *
 *   key   | high, 10 bits | middle, 9 bits | low, 9 bits |
 *
 * The rows are distributed by the low digit, then by the middle digit, then by the high digit. Each pass keeps the
 * order for equal digits, so rows with equal keys keep their original order.
 *
 * An object keeps its arrays for the next sort, because allocating them costs as much as filling them. A sort runs
 * synchronously, so two sorts never share the arrays.
 */
export class RadixSort {
  #from = new Int32Array(256)
  #to = new Int32Array(256)
  readonly #low = new Int32Array(digits)
  readonly #middle = new Int32Array(digits)
  readonly #high = new Int32Array(2 * digits)

  /** Returns the keys' indexes, sorted by key from low to high. The result is valid until the next call. */
  rising(keys: Int32Array): Int32Array {
    const count = keys.length
    if (count > this.#from.length) {
      this.#from = new Int32Array(2 * count)
      this.#to = new Int32Array(2 * count)
    }
    this.#findStarts(keys)
    const [from, to, low, middle, high] = [this.#from, this.#to, this.#low, this.#middle, this.#high]
    for (let i = 0; i < count; i++) to[next(low, (keys[i] as number) & digitMask)] = i
    for (let i = 0; i < count; i++) {
      const index = to[i] as number
      from[next(middle, ((keys[index] as number) >>> digitBits) & digitMask)] = index
    }
    for (let i = 0; i < count; i++) {
      const index = from[i] as number
      to[next(high, (keys[index] as number) >>> (2 * digitBits))] = index
    }
    return to
  }

  /** Computes each digit's first position in the sorted order. */
  #findStarts(keys: Int32Array): void {
    const [low, middle, high] = [this.#low, this.#middle, this.#high]
    for (const each of [low, middle, high]) each.fill(0)
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as number
      next(low, key & digitMask)
      next(middle, (key >>> digitBits) & digitMask)
      next(high, key >>> (2 * digitBits))
    }
    for (const each of [low, middle, high]) addUp(each)
  }
}

const digitBits = 9
const digits = 2 ** digitBits
const digitMask = digits - 1

/** Replaces each digit's count by the number of keys with smaller digits. */
function addUp(counts: Int32Array): void {
  let before = 0
  for (let digit = 0; digit < counts.length; digit++) {
    const count = counts[digit] as number
    counts[digit] = before
    before += count
  }
}

function next(starts: Int32Array, digit: number): number {
  const at = starts[digit] as number
  starts[digit] = at + 1
  return at
}
