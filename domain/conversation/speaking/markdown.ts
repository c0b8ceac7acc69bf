/**
 * Models write Markdown although a caller sees no text: a voice would read the marks ("asterisk asterisk Monday") or an
 * address of a link. The words stay, and the text that is shown keeps its marks. A sentence may hold one half of a pair
 * of marks only, because it was cut before.
 */
import { TracedText } from '../../speech/traced-text.ts'

export type SpokenText = Pick<TracedText, 'text' | 'sourcePlace'>

/** A text begins the turn, a line of the turn, or only another sentence of a line. */
export type TextStart = 'turn' | 'line' | 'sentence'

/** `startsAt`: where a match at the very start of the text counts. Absent: everywhere. */
type Rule = readonly [pattern: RegExp, by: string, startsAt?: readonly TextStart[]]

const lineStarts = ['turn', 'line'] as const

/** The first group of a match is kept, the rest of the match becomes the second value. */
const rules: readonly Rule[] = [
  // Fences of code, horizontal rules, and the line under the head of a table.
  [/^[ \t]*(?:```|~~~)[^\n`]*$/dgm, ''],
  [/^[ \t]*(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|={3,})$/dgm, ''],
  [/^[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+[ \t:-]*$/dgm, ''],
  // Images and links, footnotes, addresses in angle brackets, tags. "a[0][1]", "a[0](b)" and "x <y and z> w" stay.
  [/(?<![\p{L}\p{N}_\])])!?\[([^\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)/dgu, ''],
  [/(?<=[\p{L}\p{N}_\])])!?\[([^\]\n]*)\]\([^()\s]*[/:#.](?:[^()\n]|\([^()\n]*\))*\)/dgu, ''],
  [/(?<![\p{L}\p{N}_\])])\[(?!\d+\])([^\]\n]+)\]\[[^\]\n]*\]/dgu, ''],
  [/\[\^[^\]\n]+\]:?/dg, ''],
  [/<((?:https?:|mailto:)[^\s<>]+|[^\s<>@]+@[^\s<>]+)>/dg, ''],
  [/<br\s*\/?>/dgi, ' '],
  [/<\/?[a-z][a-z0-9-]*(?:\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))*\s*\/?>/dgi, ''],
  // Quotes, headings and items of lists. "> 90" is more than 90, "+ 49" a phone number, and "- 5" may be below zero, but
  // behind a line break it is an item. A number of an item is a word.
  [/^[ \t]*(?:>[ \t]*)+(?![ \t>]*\d)/dgm, '', lineStarts],
  [/^[ \t]*#{1,6}[ \t]+/dgm, '', lineStarts],
  [/^[ \t]*[-–—+](?![ \t]*\d)[ \t]+(?:\[[ xX]\][ \t]+)?/dgm, '', lineStarts],
  [/^[ \t]*[-–—](?=[ \t]+\d)[ \t]+/dgm, '', ['line']],
  [/^[ \t]*[*•‣][ \t]+(?:\[[ xX]\][ \t]+)?/dgm, ''],
  [/^[ \t]*\|[ \t]*/dgm, '', lineStarts],
  [/(?<![ \t])[ \t]*\|[ \t]*$/dgm, ''],
  [/(?<![ \t])[ \t]*\|[ \t]*/dg, ', '],
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

/** A sentence is shorter, unless replacements have made it long. The rules take the square of its length at the worst. */
const charactersMax = 2000

export function withoutMarks(text: string, start: TextStart = 'turn'): SpokenText {
  const steps: TracedText[] = []
  if (text.length <= charactersMax && marks.test(text))
    for (const [pattern, by, startsAt] of rules) {
      const from = startsAt === undefined || startsAt.includes(start) ? 0 : 1
      const step = replaced(steps.at(-1)?.text ?? text, pattern, by, from)
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

/** The start of the text that follows a sentence. */
export function startBehind(sentence: string, start: TextStart): TextStart {
  if (/^[ \t]*$/.test(sentence)) return start
  return /\n[ \t]*$/.test(sentence) ? 'line' : 'sentence'
}

/** The same speech, made from a text with `characters` more in front. */
export function shifted(spoken: SpokenText, characters: number): SpokenText {
  if (characters === 0) return spoken
  return { text: spoken.text, sourcePlace: (place) => characters + spoken.sourcePlace(place) }
}

/** Null if nothing matches at `least` or behind it. */
function replaced(source: string, pattern: RegExp, by: string, least: number): TracedText | null {
  const text = new TracedText(source)
  let isChanged = false
  for (const { 0: found, index, indices } of source.matchAll(pattern)) {
    if (index < least) continue
    const end = index + found.length
    const [from, to] = indices?.[1] ?? [end, end]
    if (from > index) text.copy(index).put(from === end ? by : '', from)
    if (end > to) text.copy(to).put('', end)
    isChanged = true
  }
  return isChanged ? text.copy() : null
}
