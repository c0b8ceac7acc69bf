/**
 * Models write Markdown although a caller sees no text: a voice would read the marks ("asterisk asterisk Monday") or an
 * address of a link. The words stay, and the text that is shown keeps its marks. A sentence may hold one half of a pair
 * of marks only, because it was cut before.
 */
import { TracedText } from '../speech/traced-text.ts'

export type SpokenText = Pick<TracedText, 'text' | 'sourcePlace'>

/** The first group of a match is kept, the rest of the match becomes the second value. */
const rules: readonly [RegExp, string][] = [
  // Fences of code, horizontal rules, and the line under the head of a table.
  [/^[ \t]*(?:```|~~~)[^\n`]*$/dgm, ''],
  [/^[ \t]*(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|={3,})$/dgm, ''],
  [/^[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+[ \t:-]*$/dgm, ''],
  // Images and links, footnotes, addresses in angle brackets, tags.
  [/!?\[([^\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)/dg, ''],
  [/\[([^\]\n]+)\]\[[^\]\n]*\]/dg, ''],
  [/\[\^[^\]\n]+\]:?/dg, ''],
  [/<((?:https?:|mailto:)[^\s<>]+|[^\s<>@]+@[^\s<>]+)>/dg, ''],
  [/<br\s*\/?>/dgi, ' '],
  [/<\/?[a-z][a-z0-9]*(?:\s[^<>]*)?\/?>/dgi, ''],
  // Quotes, headings and items of lists at the start of a line. A number of an item is a word. "+ 49" is a phone number.
  [/^[ \t]*(?:>[ \t]*)+/dgm, ''],
  [/^[ \t]*#{1,6}[ \t]+/dgm, ''],
  [/^[ \t]*(?:[-*•‣–—]|\+(?![ \t]*\d))[ \t]+(?:\[[ xX]\][ \t]+)?/dgm, ''],
  [/^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$/dgm, ''],
  [/[ \t]*\|[ \t]*/dg, ', '],
  // Code and emphasis. "2 * 3", "*67", "9*" and snake_case stay.
  [/`+/dg, ''],
  [/~~/dg, ''],
  [/(?<![\d\\])\*{2,3}(?=\S)|(?<=[^\s\\])\*{2,3}(?!\d)/dg, ''],
  [/(?<![\\*\p{L}\p{N}])\*((?!\d)[^\s*](?:[^*\n]*[^\s*\\])?|\d[^\s*]*)\*(?![*\p{L}\p{N}])/dgu, ''],
  [/(?<![\\*\p{L}\p{N}])\*(?=\p{L})|(?<=[\p{L}.!?,;:"”)])\*(?![*\p{L}\p{N}])/dgu, ''],
  [/(?<![\\\p{L}\p{N}_/.@:&=-])_{1,3}([^\s_](?:[^_\n]*[^\s_\\])?)_{1,3}(?![\p{L}\p{N}_])/dgu, ''],
  [/(?<![\\\p{L}\p{N}_/.@:&=-])_{1,3}(?=\p{L})|(?<=[\p{L}.!?])_{1,3}(?![\p{L}\p{N}_])/dgu, ''],
  [/\\(?=[\\`*_{}[\]()#+.!|>~-])/dg, ''],
]

const marks = /[*_`#[\]|~<>\\•‣–—+=-]/

export function withoutMarks(text: string): SpokenText {
  const steps: TracedText[] = []
  if (marks.test(text))
    for (const [pattern, by] of rules) {
      const step = replaced(steps.at(-1)?.text ?? text, pattern, by)
      if (step !== null) steps.push(step)
    }
  return chained(steps, text)
}

/** Each text is made from the one before it; the first one from `source`. */
export function chained(steps: readonly SpokenText[], source = ''): SpokenText {
  return {
    text: steps.at(-1)?.text ?? source,
    sourcePlace: (place) => steps.reduceRight((inStep, step) => step.sourcePlace(inStep), place),
  }
}

/** Null if nothing matches. */
function replaced(source: string, pattern: RegExp, by: string): TracedText | null {
  const text = new TracedText(source)
  let isChanged = false
  for (const { 0: found, index, indices } of source.matchAll(pattern)) {
    const end = index + found.length
    const [from, to] = indices?.[1] ?? [end, end]
    if (from > index) text.copy(index).put(from === end ? by : '', from)
    if (end > to) text.copy(to).put('', end)
    isChanged = true
  }
  return isChanged ? text.copy() : null
}
