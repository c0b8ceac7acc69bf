/**
 * Splits a text into sentences with ASCII characters only, because the voice supports only English and ASCII. Sentences
 * are synthesized separately, so the first sentence can be played early.
 */

import { isAbbreviation } from './abbreviations.ts'
import { spokenSigns } from './signs.ts'
import { TracedText } from './traced-text.ts'

/** The replacements are applied in this order. */
const replacements: readonly [RegExp, string | ((match: string) => string)][] = [
  ...spokenSigns,
  [/[‘’‚‛′]/g, "'"],
  [/[“”„‟″«»]/g, '"'],
  [/[‐‑‒]/g, '-'],
  [/\s*[–—―]\s*/g, ', '],
  [/…/g, '...'],
  [/[øØ]/g, 'o'],
  [/[æÆ]/g, 'ae'],
  [/[œŒ]/g, 'oe'],
  [/ß/g, 'ss'],
]

/** A sentence for the voice. `sourcePlace` maps a position in the sentence to the position in the whole text. */
export type PlainSentence = { text: string; sourcePlace: (place: number) => number }

/**
 * The most characters prepared in one step. About three hundred patterns search the text, some in quadratic time for
 * many spaces in a row: 1,000 characters take at most 8 ms, but 20,000 took half a second.
 */
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
  const gap = gaps.findLast(({ gap, index }) => gap.includes('\n') || isSentenceEnd(text, index)) ?? gaps.at(-1)
  if (gap !== undefined) return gap.end
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length
}

export type ReadingOptions = {
  /** A language tag such as "en-GB". Only English is read so far. */
  language: string
  /** The most characters in a sentence. */
  charsMax: number
}

/** Returns the text's sentences as a voice says them. The list is empty if the text contains no words. */
export function sentences(text: string, { charsMax }: ReadingOptions): PlainSentence[] {
  const steps = plain(text)
  const whole = steps.at(-1)?.text ?? ''
  return partsOf(whole, charsMax).map(({ at, text }) => ({
    text,
    sourcePlace: (place) => steps.reduceRight((inStep, step) => step.sourcePlace(inStep), at + place),
  }))
}

/** Removes accents, and every character without an ASCII form: emoji, other scripts, control characters. */
function plain(text: string): TracedText[] {
  const steps: TracedText[] = []
  const replace = (pattern: RegExp, by: string | ((match: string) => string)) => {
    const step = new TracedText(steps.at(-1)?.text ?? text)
    for (const { 0: match, 1: group = '', index } of step.source.matchAll(pattern))
      step.copy(index).put(typeof by === 'string' ? by.replace('$1', group) : by(match), index + match.length)
    steps.push(step.copy())
  }
  for (const [pattern, by] of replacements) replace(pattern, by)
  replace(/[^\0-\x7f]/gu, (character) => character.normalize('NFKD'))
  replace(/[\t\v\f\r ]+/g, ' ')
  replace(/[^\n -~]+/g, '')
  return steps
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
  return parts.filter((part) => /[a-z0-9]/i.test(part.text))
}

/** The longest abbreviation has seven characters, and the character before an abbreviation is tested too. */
const abbreviationMax = 12

/**
 * Returns true if a sentence ends before this position: after a full stop and closing quotes, but not after an
 * abbreviation such as "Mr.".
 */
function isSentenceEnd(text: string, end: number): boolean {
  let at = end - 1
  while (at > 0 && `"')]`.includes(text[at] as string)) at--
  return '.!?;:'.includes(text[at] ?? ' ') && !isAbbreviation(text.slice(Math.max(0, end - abbreviationMax), end))
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
