/**
 * Splits a text into sentences of plain characters, which a small English voice can read. The first sentence can be
 * played early.
 */

/** The replacements are applied in this order. */
const replacements: readonly [RegExp, string][] = [
  [/[‘’‚‛′]/g, "'"],
  [/[“”„‟″«»]/g, '"'],
  [/[‐‑‒]/g, '-'],
  [/\s*[–—―]\s*/g, ', '],
  [/…/g, '...'],
  [/€\s*([\d.,]*\d)/g, '$1 euros'],
  [/£\s*([\d.,]*\d)/g, '$1 pounds'],
  [/[øØ]/g, 'o'],
  [/[æÆ]/g, 'ae'],
  [/[œŒ]/g, 'oe'],
  [/ß/g, 'ss'],
]

/** Answers sentences of at most `charsMax` characters; the list is empty for a text without anything to speak. */
export function sentences(text: string, charsMax: number): string[] {
  return plain(text)
    .split(/(?<=[.!?;:]["')\]]*)\s+|\n+/)
    .flatMap((sentence) => split(sentence.trim(), charsMax))
    .filter((sentence) => /[a-z0-9]/i.test(sentence))
}

/** Removes accents, and every character without an ASCII form: emoji, other scripts, control characters. */
function plain(text: string): string {
  const spelled = replacements.reduce((result, [pattern, by]) => result.replace(pattern, by), text)
  return spelled
    .normalize('NFKD')
    .replace(/[\t\v\f\r ]+/g, ' ')
    .replace(/[^\n -~]/g, '')
}

/** Cuts a sentence that is too long at the last comma, else at the last space, else at the limit. */
function split(sentence: string, charsMax: number): string[] {
  const parts: string[] = []
  let rest = sentence
  while (rest.length > charsMax) {
    const head = rest.slice(0, charsMax)
    const comma = head.lastIndexOf(', ') + 1
    const space = head.lastIndexOf(' ')
    const end = comma > charsMax / 3 ? comma : space > 0 ? space : charsMax
    parts.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return [...parts, rest]
}
