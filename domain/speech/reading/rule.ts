/**
 * A rule says how one written form is spoken: "5 km" as "five kilometers". The reader goes through a text once, and at
 * each position the first matching rule wins.
 */

/** Returns the spoken words. Null if the rule does not apply to this match, so that the next rules are tried. */
export type Say = (match: RegExpExecArray) => string | null

/**
 * The kinds of characters with which a written form, such as "5 km", can begin. At a position, only rules for its
 * character's kind are tried.
 */
export type Start = 'digit' | 'letter' | 'sign' | 'space'

export type Rule = { starts: readonly Start[]; pattern: RegExp; say: Say }

/**
 * Makes a rule. The pattern must match at the current position, and its quantifiers are bounded, so that a hostile text
 * costs linear time.
 */
export function rule(starts: Start | readonly Start[], pattern: string | RegExp, say: Say, flags = ''): Rule {
  const source = typeof pattern === 'string' ? pattern : pattern.source
  const all = typeof pattern === 'string' ? flags : pattern.flags + flags
  const sticky = [...new Set([...all, 'y', 'u'])].join('')
  return { starts: typeof starts === 'string' ? [starts] : starts, pattern: new RegExp(source, sticky), say }
}

/** Returns an alternation of literal texts, the longest first, so that "km/h" is found before "km". */
export function anyOf(texts: Iterable<string>): string {
  const longest = [...new Set(texts)].sort((a, b) => b.length - a.length)
  return `(?:${longest.map(escaped).join('|')})`
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

/** Reads a table: a row per line, and its cells between `|`. */
export function rowsOf(table: string): string[][] {
  return table
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.split('|').map((cell) => cell.trim()))
}

/** Reads a table with a key and a value in each row. Several keys for one value are separated by spaces. */
export function wordsOf(table: string): Map<string, string> {
  return new Map(
    rowsOf(table).flatMap(([keys = '', value = '']) => keys.split(' ').map((key): [string, string] => [key, value])),
  )
}

/**
 * White space inside a written form such as "5 km": an ordinary space, a no-break space, a narrow no-break space or a
 * thin space.
 */
export const gap = String.raw`[ \u00a0\u202f\u2009]`

/** No letter or digit may follow, because the written form would be part of a longer word. */
export const wordEnd = String.raw`(?![\p{L}\p{N}])`
export const wordStart = String.raw`(?<![\p{L}\p{N}])`

/** Returns true if a form is at the text's end. The stop of an abbreviation then ends the sentence too. */
export function isAtEnd({ 0: written, index, input }: RegExpExecArray): boolean {
  return /^\s*$/.test(input.slice(index + written.length))
}
