/**
 * Turns a text into sentences as a voice says them: numbers, dates, addresses and symbols are words of the text's
 * language, and Markdown and emoji are gone. Sentences are synthesized separately, so the first sentence can be played
 * early.
 */
import { abbreviationRules } from './abbreviation-rules.ts'
import { isAbbreviation } from './abbreviations.ts'
import { addressRules, versionRules } from './addresses.ts'
import { de } from './de.ts'
import { en, enWithDayFirst } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { type Language, type LanguageTag, languageTagOf } from './language.ts'
import { compatible, plainOf } from './letters.ts'
import { chained, type SpokenText, withoutMarks } from './markdown.ts'
import { moneyRules } from './money.ts'
import { phoneRules } from './phones.ts'
import { fractionRules, quantityRules } from './quantities.ts'
import { Reader } from './reader.ts'
import { signRules } from './signs.ts'
import { TracedText } from './traced-text.ts'

/** A sentence for the voice. `sourcePlace` maps a position in the sentence to the position in the whole text. */
export type PlainSentence = { text: string; sourcePlace: (place: number) => number }

/** The maximum number of characters prepared in one step, so that a long text does not block the event loop. */
export const segmentMax = 1000

/** A part of a text, prepared in one step. `at` is the part's position in the text. */
type Segment = { at: number; text: string }

/** Cuts a text after a sentence, otherwise after a word, otherwise at the limit. */
export function* segments(text: string): Generator<Segment> {
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at, at + segmentMax)
    const length = at + segmentMax < text.length ? cutOf(rest) : rest.length
    yield { at, text: rest.slice(0, length) }
    at += length
  }
}

function cutOf(text: string): number {
  const gaps = [...text.matchAll(/\s+/g)].map(({ 0: gap, index }) => ({ gap, index, end: index + gap.length }))
  const gap = gaps.findLast(({ gap, index }) => gap.includes('\n') || isEndInText(text, index)) ?? gaps.at(-1)
  if (gap !== undefined) return gap.end
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length
}

/** An abbreviation has at most twelve characters. */
const isEndInText = (text: string, end: number) =>
  isSentenceEnd(text, end) && !isAbbreviation(text.slice(Math.max(0, end - 12), end), text.slice(end, end + 12))

type ReadingOptions = {
  /** A language tag such as "en-GB". Unknown languages are read like English. */
  language: string
  /** The maximum number of characters in a sentence. */
  charsMax: number
}

/** Returns the text's sentences as a voice says them. The list is empty if the text contains no words. */
export function sentences(text: string, { language, charsMax }: ReadingOptions): PlainSentence[] {
  const spoken = readAloud(text, language)
  if (spoken === null) return []
  return partsOf(spoken.text, charsMax).map(({ at, text }) => ({
    text,
    sourcePlace: (place) => spoken.sourcePlace(at + place),
  }))
}

/** Returns the whole text in spoken words. Null if the voice can read no word in the text. */
function readAloud(text: string, tag: string): SpokenText | null {
  const unmarked = withoutMarks(text)
  const plain = withPlainCharacters(unmarked.text)
  const spoken = readerOf(tag).read(plain.text)
  return spoken === null ? null : chained([unmarked, plain, spoken])
}

const languages: Readonly<Record<LanguageTag, Language>> = { en, de, es, fr, it }
const readers = new Map<Language, Reader>()

function readerOf(tag: string): Reader {
  const isDayFirst = /^en[-_](?!us|ca|ph)[a-z]{2}$/i.test(tag)
  const language = isDayFirst ? enWithDayFirst : languages[languageTagOf(tag)]
  const reader = readers.get(language) ?? new Reader(language, rulesOf(language))
  readers.set(language, reader)
  return reader
}

/**
 * At each position, the first matching rule wins. So a date is not read as a phone number, and a price not as a number.
 */
const rulesOf = (language: Language) => [
  ...addressRules(language),
  ...language.rules(language),
  ...versionRules(language),
  ...abbreviationRules(language),
  ...phoneRules(language),
  ...fractionRules(language),
  ...moneyRules(language),
  ...quantityRules(language),
  ...signRules(language),
]

function withPlainCharacters(text: string): TracedText {
  const plain = new TracedText(text)
  for (const { 0: character, index } of text.matchAll(compatible))
    plain.copy(index).put(plainOf(character), index + character.length)
  return plain.copy()
}

type Part = { at: number; text: string }

function partsOf(text: string, charsMax: number): Part[] {
  const parts: Part[] = []
  let at = 0
  for (const { 0: gap, index } of [...text.matchAll(/\s+/g), { 0: '\n', index: text.length }]) {
    if (!gap.includes('\n') && !isSentenceEnd(text, index)) continue
    parts.push(...split(trimmed({ at, text: text.slice(at, index) }), charsMax))
    at = index + gap.length
  }
  return parts.filter((part) => /[\p{L}\p{N}]/u.test(part.text))
}

/**
 * Returns true if a sentence ends before this position: after a stop and closing quotes. Abbreviations have lost their
 * stops, except for "a.m." and "p.m.", which end a sentence before a capital letter that begins no day or time zone.
 */
function isSentenceEnd(text: string, end: number): boolean {
  let at = end - 1
  while (at > 0 && `"')]`.includes(text[at] as string)) at--
  if (!'.!?;:'.includes(text[at] ?? ' ')) return false
  if (!/(?<!\p{L})\p{L}\.\p{L}\.$/u.test(text.slice(Math.max(0, at - 5), at + 1))) return true
  return /^\s+["']?(?!\p{Lu}\p{Ll}+day\b|(?:Jan|Febr)uary|March|April|May|June|July|August|(?:Sept|Nov|Dec)ember|October|[A-Z]{2,4}\b)\p{Lu}/u.test(
    text.slice(end, end + 16),
  )
}

/** Cuts a long sentence at the last comma, otherwise at the last space, otherwise at the limit. */
function split(sentence: Part, charsMax: number): Part[] {
  const parts: Part[] = []
  let rest = sentence
  while (rest.text.length > charsMax) {
    const head = rest.text.slice(0, charsMax)
    const comma = head.lastIndexOf(', ') + 1
    const space = head.lastIndexOf(' ')
    const end = comma > charsMax / 3 ? comma : space > 0 ? space : charsMax
    parts.push({ at: rest.at, text: rest.text.slice(0, end) })
    rest = trimmed({ at: rest.at + end, text: rest.text.slice(end) })
  }
  return [...parts, rest]
}

function trimmed({ at, text }: Part): Part {
  return { at: at + text.length - text.trimStart().length, text: text.trim() }
}
