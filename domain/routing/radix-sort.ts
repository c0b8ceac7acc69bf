/**
 * A radix sort of row numbers by keys of 27 bits, in plain loops: half of a decision would otherwise go into comparing rows.
 *
 *   key   | high, 9 bits | middle, 9 bits | low, 9 bits |
 *
 * The rows are dealt out by the low digit, then those by the middle one, then those by the high one. Each time equal digits keep the order that they came
 * in, so that at the end rows with equal keys stand as they stood in the catalog.
 */
type Room = { rows: number; from: Int32Array; to: Int32Array; low: Int32Array; middle: Int32Array; high: Int32Array }

const digitBits = 9
const digits = 2 ** digitBits
const digitMask = digits - 1
/** The next sort is done in it again: arrays of its own for each would cost as much as filling them. */
let room = roomOf(256)

/** Indexes of the first `count` keys, rising. What is returned is good until the next call. */
export function rising(keys: Int32Array, count: number): Int32Array {
  if (count > room.rows) room = roomOf(2 * count)
  const { from, to, low, middle, high } = room
  findStarts(keys, count, room)
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

function roomOf(rows: number): Room {
  const starts = () => new Int32Array(digits)
  return { rows, from: new Int32Array(rows), to: new Int32Array(rows), low: starts(), middle: starts(), high: starts() }
}

/** Where the keys with each digit begin, once they are sorted by it. */
function findStarts(keys: Int32Array, count: number, { low, middle, high }: Room): void {
  for (const each of [low, middle, high]) each.fill(0)
  for (let i = 0; i < count; i++) {
    const key = keys[i] as number
    next(low, key & digitMask)
    next(middle, (key >>> digitBits) & digitMask)
    next(high, key >>> (2 * digitBits))
  }
  for (const each of [low, middle, high]) addUp(each)
}

/** How many there are of each digit becomes how many there are of those before it. */
function addUp(counts: Int32Array): void {
  let before = 0
  for (let digit = 0; digit < digits; digit++) {
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
