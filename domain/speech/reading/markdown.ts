/**
 * Removes Markdown from an agent's text for the voice. Models write Markdown although a caller sees no text, and a
 * voice would read the marks ("asterisk asterisk Monday") or a link's URL. The shown text keeps the marks. A sentence
 * may contain half a pair of marks, because the text was split into sentences before.
 */
import { TracedText } from './traced-text.ts'

export type SpokenText = Pick<TracedText, 'text' | 'sourcePlace'>

/** Where a text begins: at the turn's start, at a line's start, or inside a line after another sentence. */
export type TextStart = 'turn' | 'line' | 'sentence'

/**
 * `startsAt` restricts a match at the very start of a text to these kinds of start. If absent, all kinds are allowed.
 */
type Rule = readonly [pattern: RegExp, by: string, startsAt?: readonly TextStart[]]

const lineStarts = ['turn', 'line'] as const

/**
 * Each rule keeps a match's first group and removes the rest. If there is no group, the second value replaces the
 * match.
 */
const rules: readonly Rule[] = [
  // Code fences, horizontal rules, and the line under a table's head.
  [/^[ \t]*(?:```|~~~)[^\n`]*$/dgm, ''],
  [/^[ \t]*(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|={3,})$/dgm, ''],
  [/^[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+[ \t:-]*$/dgm, ''],
  // Images and links, footnotes, addresses in angle brackets, tags. "a[0][1]", "a[0](b)" and "x <y and z> w" stay.
  [/(?<![\p{L}\p{N}_\])])!?\[([^\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)/dgu, ''],
  [/(?<=[\p{L}\p{N}_\])])!?\[([^\]\n]*)\]\([^()\s]*[/:#.](?:[^()\n]|\([^()\n]*\))*\)/dgu, ''],
  [/(?<![\p{L}\p{N}_\])])\[(?!\d+\])([^\]\n]+)\]\[[^\]\n]*\]/dgu, ''],
  [/\[\^[^\]\n]+\]:?/dg, ''],
  [/<((?:https?:|mailto:)[^\s<>]+|[^\s<>@]+@[^\s<>]+)>/dg, ''],
  [/<!--[^>]*-->/dg, ''],
  [/<br\s*\/?>/dgi, ' '],
  [/<\/?[a-z][a-z0-9-]*(?:\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))*\s*\/?>/dgi, ''],
  // Quotes, headings and list items. "> 90" means more than 90, and "+ 49" begins a phone number, so both stay. "- 5"
  // may be below zero and stays too, except after a line break, where it is a list item. An item's number stays,
  // because it is read as a word.
  [/^[ \t]*(?:>[ \t]*)+(?![ \t>]*\d)/dgm, '', lineStarts],
  [/^[ \t]*#{1,6}[ \t]+(?![ \t])([^\n]*?)(?:(?<![ \t])[ \t]+#+[ \t]*)?$/dgm, '', lineStarts],
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
  // HTML's character references. "&amp;" is the last, so "&amp;lt;" stays a reference.
  [/&nbsp;/dg, ' '],
  [/&lt;/dg, '<'],
  [/&gt;/dg, '>'],
  [/&quot;/dg, '"'],
  [/&(?:#39|apos);/dg, "'"],
  [/&amp;/dg, '&'],
]

const marks = /[*_`#[\]|~<>\\•‣–—+=&-]/

/**
 * Texts longer than this are not searched, because the rules' worst case takes quadratic time. A sentence is shorter,
 * unless replacements have made it long.
 */
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

/**
 * Combines rewriting steps into one spoken text. The first step has rewritten `source`, and each further step the
 * previous step's result.
 */
export function chained(steps: readonly SpokenText[], source = ''): SpokenText {
  return {
    text: steps.at(-1)?.text ?? source,
    sourcePlace: (place) => steps.reduceRight((inStep, step) => step.sourcePlace(inStep), place),
  }
}

/** Returns where the next text begins, after this sentence: in a new line or in the same line. */
export function startBehind(sentence: string, start: TextStart): TextStart {
  if (/^[ \t]*$/.test(sentence)) return start
  return /\n[ \t]*$/.test(sentence) ? 'line' : 'sentence'
}

/** Returns the same speech for a source text with `characters` more characters in front. */
export function shifted(spoken: SpokenText, characters: number): SpokenText {
  if (characters === 0) return spoken
  return { text: spoken.text, sourcePlace: (place) => characters + spoken.sourcePlace(place) }
}

/** Replaces each match that starts at `least` or later. Returns null if there is no match. */
function replaced(source: string, pattern: RegExp, by: string, least: number): TracedText | null {
  const text = new TracedText(source)
  let isChanged = false
  for (const { 0: match, index, indices } of source.matchAll(pattern)) {
    if (index < least) continue
    const end = index + match.length
    const [from, to] = indices?.[1] ?? [end, end]
    if (from > index) text.copy(index).put(from === end ? by : '', from)
    if (end > to) text.copy(to).put('', end)
    isChanged = true
  }
  return isChanged ? text.copy() : null
}
