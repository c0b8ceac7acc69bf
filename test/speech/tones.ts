/**
 * Words as audio that can be read back exactly after G.711, resampling and a recording. Each word is a pair of tones, a
 * low one and a high one, like a phone key; silence divides words. A word is found by correlation with all tones, so a
 * level or a beep is never taken for a word.
 */

/** 20 ms: within this time, tones 50 Hz apart do not disturb one another. */
const blockMs = 20
const stepHz = 50
const low = group(350, 1750)
const high = group(1850, 3250)
const amplitude = 5000
/** A voice takes this long per letter. */
export const letterMs = 60
const shortestMs = 120
const gapMs = 40
/** The pause after a sentence. */
const sentenceGapMs = 160
/** The smallest energy share in a block: for a word's two tones together, and for each tone. */
const wordShare = 0.75
const toneShare = 0.2
/** A block below this level is silent: the mean magnitude over its samples. */
const quietest = 100

function group(fromHz: number, toHz: number): number[] {
  return Array.from({ length: (toHz - fromHz) / stepHz + 1 }, (_, at) => fromHz + at * stepHz)
}

/** Every word spoken in this process. A word's index in this list determines its pair of tones. */
const spoken: string[] = []
const places = new Map<string, number>()

function placeOf(word: string): number {
  const known = places.get(word)
  if (known !== undefined) return known
  if (spoken.length === low.length * high.length) throw new Error('there are more words than pairs of tones')
  places.set(word, spoken.length)
  return spoken.push(word) - 1
}

export type SpokenWord = { place: number; endMs: number }
export type Spoken = { samples: Int16Array; words: SpokenWord[] }

/** Makes a text's audio. A word's `place` is its end in the text. */
export function speak(text: string, rateHz: number): Spoken {
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => {
    const ms = Math.max(shortestMs, word.length * letterMs)
    return { word, place: index + word.length, ms, gapMs: /[.!?]$/.test(word) ? sentenceGapMs : gapMs }
  })
  const samples = new Int16Array((words.reduce((sum, { ms, gapMs }) => sum + ms + gapMs, 0) * rateHz) / 1000)
  let atMs = 0
  const ends = words.map(({ word, place, ms, gapMs }) => {
    write(samples.subarray((atMs * rateHz) / 1000, ((atMs + ms) * rateHz) / 1000), placeOf(word), rateHz)
    atMs += ms + gapMs
    return { place, endMs: atMs - gapMs }
  })
  return { samples, words: ends }
}

function write(samples: Int16Array, place: number, rateHz: number): void {
  const one = (2 * Math.PI * (low[place % low.length] as number)) / rateHz
  const other = (2 * Math.PI * (high[Math.floor(place / low.length)] as number)) / rateHz
  for (let at = 0; at < samples.length; at++) samples[at] = amplitude * (Math.sin(one * at) + Math.sin(other * at))
}

export type ReadWord = { word: string; startMs: number; endMs: number }

/** Reads words from audio as it arrives. */
export class WordReader {
  readonly #rateHz: number
  readonly #block: Float64Array
  #filled = 0
  #blocks = 0
  /** The last block's tone pair, or -1; and the unfinished word. */
  #last = -1
  #word: ReadWord | null = null

  constructor(rateHz: number) {
    this.#rateHz = rateHz
    this.#block = new Float64Array((rateHz * blockMs) / 1000)
  }

  /** The position in the audio. */
  get nowMs(): number {
    return this.#blocks * blockMs
  }

  /** The unfinished word. */
  get word(): ReadWord | null {
    return this.#word
  }

  /** Returns the finished words. */
  push(samples: Int16Array): ReadWord[] {
    const over: ReadWord[] = []
    for (const sample of samples) {
      this.#block[this.#filled++] = sample
      if (this.#filled < this.#block.length) continue
      this.#filled = 0
      this.#blocks++
      const ended = this.#take(pairIn(this.#block, this.#rateHz, this.#last))
      if (ended) over.push(ended)
    }
    return over
  }

  /**
   * Takes a block's tone pair, and returns a word that has ended. A word has at least two blocks, because a block
   * between two words mixes their tones and may look like a third word.
   */
  #take(pair: number): ReadWord | null {
    const isSame = pair === this.#last
    this.#last = pair
    const word = spoken[pair]
    if (isSame) {
      if (word === undefined) return null
      if (this.#word?.word === word) this.#word.endMs = this.nowMs
      else {
        const before = this.#word
        this.#word = { word, startMs: this.nowMs - 2 * blockMs, endMs: this.nowMs }
        return before
      }
      return null
    }
    if (pair !== -1) return null
    const ended = this.#word
    this.#word = null
    return ended
  }
}

/** All words in a recording. */
export function wordsIn(samples: Int16Array, rateHz: number): ReadWord[] {
  return new WordReader(rateHz).push(samples.length === 0 ? samples : withSilence(samples, rateHz))
}

/** Adds silence, which ends the last word. */
function withSilence(samples: Int16Array, rateHz: number): Int16Array {
  const longer = new Int16Array(samples.length + (rateHz * 3 * blockMs) / 1000)
  longer.set(samples)
  return longer
}

/** The index of the word whose tones have the block's energy, or -1. The previous block's pair is tried first. */
function pairIn(block: Float64Array, rateHz: number, before: number): number {
  let energy = 0
  let magnitude = 0
  for (const value of block) {
    energy += value * value
    magnitude += Math.abs(value)
  }
  if (magnitude < quietest * block.length) return -1
  const whole = (energy * block.length) / 2
  if (before >= 0 && isPair(block, before, whole, rateHz)) return before
  const pair = strongest(block, low, rateHz) + low.length * strongest(block, high, rateHz)
  return isPair(block, pair, whole, rateHz) ? pair : -1
}

function isPair(block: Float64Array, pair: number, whole: number, rateHz: number): boolean {
  const one = goertzel(block, (low[pair % low.length] as number) / rateHz)
  const other = goertzel(block, (high[Math.floor(pair / low.length)] as number) / rateHz)
  return Math.min(one, other) >= toneShare * whole && one + other >= wordShare * whole
}

function strongest(block: Float64Array, tones: readonly number[], rateHz: number): number {
  const energies = tones.map((hz) => goertzel(block, hz / rateHz))
  return energies.indexOf(Math.max(...energies))
}

/**
 * Returns the energy at one frequency, given in turns per sample. A tone has the block's energy times half its length.
 */
function goertzel(block: Float64Array, turns: number): number {
  const factor = 2 * Math.cos(2 * Math.PI * turns)
  let one = 0
  let two = 0
  for (const value of block) {
    const next = value + factor * one - two
    two = one
    one = next
  }
  return one * one + two * two - factor * one * two
}
