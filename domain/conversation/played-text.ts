/**
 * The part of an agent's turn that was played. A word counts when all of it was played, so the text is never more than
 * that. With the times of words it is exact. Otherwise words are laid over the sounding parts of the audio in
 * proportion to their length, and pauses of the voice count for nothing:
 *
 *   audio   ...####.###..#####...      . silence, # sound
 *   text       Hello there  friend
 */
import { charactersOf } from '../speech/characters.ts'
import { isUnspaced } from './phrases.ts'

/** Times are from the start of the audio of the sentence. */
export type WordTime = { text: string; startMs: number; endMs: number }

const stepMs = 10
/** A step is sound if its peak is above this part of the highest peak of the turn so far: -29 dB. */
const soundAbove = 0.035
/** Quieter samples are silence in any case. */
const silenceBelow = 32
/** A word is not counted before this much more was played, since its length is an estimate. */
const marginMs = 120
/** The length of a sentence whose audio is not complete is taken to be at least this for each letter. */
const letterMs = 60
/** Digits and signs such as % are spoken as whole words. */
const signLetters = 6

type Sentence = {
  text: string
  /** The number of samples of the turn before it. */
  from: number
  samples: number
  /** The number of sounding steps up to the end of each step. */
  sounding: number[]
  words: readonly WordTime[] | null
  isComplete: boolean
}

export class PlayedText {
  readonly #rateHz: number
  readonly #stepSamples: number
  readonly #sentences: Sentence[] = []
  #samples = 0
  #peakOfStep = 0
  #peakOfTurn = silenceBelow / soundAbove

  constructor(sampleRateHz: number) {
    this.#rateHz = sampleRateHz
    this.#stepSamples = (sampleRateHz * stepMs) / 1000
  }

  /** The audio that comes next belongs to this text. White space between sentences is part of their texts. */
  sentence(text: string): void {
    this.complete()
    this.#sentences.push({ text, from: this.#samples, samples: 0, sounding: [], words: null, isComplete: false })
  }

  /** Audio of the last sentence, in the order in which it will be played. */
  audio(samples: Int16Array): void {
    const sentence = this.#sentences.at(-1)
    if (sentence === undefined) throw new Error('audio without a text')
    for (const sample of samples) {
      const level = Math.abs(sample)
      if (level > this.#peakOfStep) this.#peakOfStep = level
      sentence.samples++
      if (sentence.samples % this.#stepSamples === 0) this.#endStep(sentence)
    }
    this.#samples += samples.length
  }

  /** The times of all words of the last sentence. */
  words(times: readonly WordTime[]): void {
    const sentence = this.#sentences.at(-1)
    if (sentence && times.length > 0) sentence.words = times
  }

  /** The last sentence has all its audio. */
  complete(): void {
    const sentence = this.#sentences.at(-1)
    if (sentence) sentence.isComplete = true
  }

  /** The last sentence broke off and is spoken again, so its audio so far has no text. */
  broken(): void {
    const sentence = this.#sentences.at(-1)
    if (sentence === undefined) return
    sentence.text = ''
    sentence.isComplete = true
  }

  /** The length of the audio so far. */
  get durationMs(): number {
    return (this.#samples * 1000) / this.#rateHz
  }

  /** The text that was played when `playedMs` of the audio was. */
  at(playedMs: number): string {
    const played = Math.floor((playedMs * this.#rateHz) / 1000)
    let text = ''
    for (const sentence of this.#sentences) {
      const rest = played - sentence.from
      if (rest <= 0) break
      if (!sentence.isComplete || rest < sentence.samples) return (text + this.#cut(sentence, rest)).trimEnd()
      text += sentence.text
    }
    return text.trimEnd()
  }

  #endStep({ sounding }: Sentence): void {
    if (this.#peakOfStep > this.#peakOfTurn) this.#peakOfTurn = this.#peakOfStep
    sounding.push((sounding.at(-1) ?? 0) + Number(this.#peakOfStep > soundAbove * this.#peakOfTurn))
    this.#peakOfStep = 0
  }

  #cut(sentence: Sentence, samples: number): string {
    const part = sentence.words ? this.#partByTimes(sentence.words, samples) : this.#partBySound(sentence, samples)
    const total = lettersOf(sentence.text)
    let letters = 0
    let end = 0
    for (const [word] of sentence.text.matchAll(words)) {
      letters += lettersOf(word)
      // The sums of both sides are whole numbers, but one of them was divided and multiplied.
      if (letters > part * total + 1e-6) break
      end = sentence.text.indexOf(word, end) + word.length
    }
    return sentence.text.slice(0, end)
  }

  #partByTimes(times: readonly WordTime[], samples: number): number {
    const playedMs = (samples * 1000) / this.#rateHz
    const sum = (some: readonly WordTime[]) => some.reduce((letters, { text }) => letters + lettersOf(text), 0)
    return sum(times.filter(({ endMs }) => endMs <= playedMs)) / Math.max(1, sum(times))
  }

  #partBySound({ text, sounding, samples: all, isComplete }: Sentence, samples: number): number {
    const steps = Math.floor(Math.min(samples, all) / this.#stepSamples) - marginMs / stepMs
    const played = steps <= 0 ? 0 : (sounding[steps - 1] ?? 0)
    const known = sounding.at(-1) ?? 0
    const expected = isComplete ? known : Math.max(known, (lettersOf(text) * letterMs) / stepMs)
    return expected === 0 ? 0 : played / expected
  }
}

/** A word with the punctuation around it. In scripts without spaces it is one character with the punctuation behind it. */
const words =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}][\p{M}\p{P}ー]*|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu

/** The length of the sound of a text, in letters: punctuation is silent, and a character of Chinese is as long as two. */
function lettersOf(text: string): number {
  let letters = 0
  for (const [character] of text.matchAll(/[\p{L}\p{N}\p{Sc}%&@+=]/gu)) {
    if (!/\p{L}/u.test(character)) letters += signLetters
    else letters += isUnspaced(character) ? 2 : charactersOf(character)
  }
  return letters
}
