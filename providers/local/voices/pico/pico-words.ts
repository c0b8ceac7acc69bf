/** Finds when each word ends in Pico's speech, from the items of the engine's stages. */
import type { WordEnd } from '../../../../domain/ports/tts.ts'
import type { Item, ItemTaps } from './item-taps.ts'

/** The types of items. */
const [spelledType, spokenType, syllableType, boundType, soundType] = ['g', 'w', 'y', 'b', 'h']
/** A sound has states, each with three numbers of two bytes. The first number is the state's length in frames. */
const stateBytes = 6
const frameMs = 4
/**
 * The engine reads "Dr." as another word, which is not in the text. So each spoken word is searched for among the
 * text's next words, at most this many.
 */
const otherWordsMax = 8

export type SpokenWords = {
  ends: WordEnd[]
  /** The end time for the last word. Null if the text has no sound. */
  lastEndMs: number | null
}

/**
 * Returns the words' ends in `text`. The engine reads "Dr." as "doktor", so such a word has no end, and the next end
 * includes it. If the engine's stages report different numbers of words, only the last word has an end.
 */
export function picoWords(taps: ItemTaps, text: string): SpokenWords {
  const sounds = taps.items('pam').filter(({ type }) => type === soundType)
  const soundEndsMs = wordEndsMs(taps.items('spho'), sounds)
  const lastEndMs = soundEndsMs.at(-1) ?? null
  const endsMs = withSilentWords(soundEndsMs, taps.items('acph'))
  const words = taps.items('pr').filter(({ type }) => type === spelledType)
  if (lastEndMs === null) return { ends: [], lastEndMs }
  if (words.length !== endsMs.length) return { ends: [{ place: text.length, endMs: lastEndMs }], lastEndMs }
  const places = placesOf(
    words.map(({ content }) => Buffer.from(content).toString()),
    text,
  )
  const ends = endsMs.flatMap((endMs, index) => {
    const place = index === endsMs.length - 1 ? text.length : places[index]
    return typeof place === 'number' ? [{ place, endMs }] : []
  })
  return { ends, lastEndMs }
}

/** Returns the end times for all words that have sounds. */
function wordEndsMs(items: readonly Item[], sounds: readonly Item[]): number[] {
  const ends: number[] = []
  let next = 0
  let elapsedMs = 0
  /**
   * Adds the durations up to the given sound. Other sounds before it are pauses, which the engine adds between words.
   */
  const play = (sound: number) => {
    while (next < sounds.length) {
      const each = sounds[next++] as Item
      elapsedMs += durationMs(each)
      if (each.info.charCodeAt(0) === sound) return
    }
  }
  let isInWord = false
  for (const { type, content } of items) {
    if (type === syllableType) content.forEach(play)
    if (type === boundType && isInWord) ends.push(elapsedMs)
    if (type === syllableType || type === boundType) isInWord = type === syllableType
  }
  return ends
}

/** Adds the words for which the engine has no sounds. Such a word gets the end time of the word before it. */
function withSilentWords(endsMs: readonly number[], items: readonly Item[]): number[] {
  const all: number[] = []
  let next = 0
  for (const { content } of items.filter(({ type }) => type === spokenType))
    all.push(content.length > 0 ? (endsMs[next++] ?? 0) : (all.at(-1) ?? 0))
  return next === endsMs.length ? all : []
}

function durationMs({ content }: Item): number {
  let frames = 0
  for (let at = 0; at + stateBytes <= content.length; at += stateBytes)
    frames += (content[at] as number) + 256 * (content[at + 1] as number)
  return frames * frameMs
}

/** Returns the position after each word, or null if the text does not contain the word in this form. */
function placesOf(words: readonly string[], text: string): (number | null)[] {
  let from = 0
  return words.map((word) => {
    const place = placeAfter(word, text, from)
    if (place !== null) from = place
    return place
  })
}

function placeAfter(word: string, text: string, from: number): number | null {
  // The engine marks a single letter's name: "e\./".
  const letters = lettersOf(word.replaceAll(/\\.*?\//g, ''))
  if (letters.length === 0) return null
  const starts = [from, ...[...text.slice(from).matchAll(/\s+/g)].map(({ 0: gap, index }) => from + index + gap.length)]
  for (const start of starts.slice(0, otherWordsMax)) {
    const place = matchAt(letters, text, start)
    if (place !== null) return place
  }
  return null
}

/** Compares letters and digits only, because the engine drops apostrophes and hyphens inside a word. */
function matchAt(letters: readonly string[], text: string, start: number): number | null {
  let count = 0
  for (const { 0: letter, index } of text.slice(start).matchAll(/[\p{L}\p{N}]/gu)) {
    if (letter.toLowerCase() !== letters[count]) return null
    count++
    if (count === letters.length) return start + index + letter.length
  }
  return null
}

const lettersOf = (word: string) => word.toLowerCase().match(/[\p{L}\p{N}]/gu) ?? []
