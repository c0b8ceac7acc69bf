/**
 * Limits for the expressions in Liquid templates: Liquid evaluates an expression in one go, without checking the time
 * limit.
 */
import { loadLiquid } from '../optional.ts'

/** A template up to this length cannot exceed a limit, so it is not checked. */
const harmlessMax = 64
/** The limit for characters in one tag or output, without quoted text. A path with 32,000 names took half a second. */
const expressionMax = 2_000
/** The limit for characters in all tags and outputs together. Parsing 32,000 characters takes 30 ms. */
const expressionsMax = 32_000
/** The limit for names in a path: `a.b[c]` has three. */
const namesMax = 32
/** The limit for filters in one tag or output. */
const filtersMax = 64
/** A character of a name, or of quoted text in brackets. */
const ofName = /[\w?"-]|[^\0-\x7f]/
/** Matches quoted text as Liquid does. */
const quoted = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/gs

export type ExpressionFault =
  /** All expressions together are too long. */
  | { kind: 'too_costly' }
  /** Line and column are counted from 1. */
  | { kind: 'expression_too_long'; line: number; column: number; counted: Counted; most: number }

/** The limited quantities in an expression. */
type Counted = 'characters' | 'names' | 'filters'

/** Returns null if the expressions are within the limits. Throws a LiquidError if a tag or output is not closed. */
export function expressionFault(text: string): ExpressionFault | null {
  if (text.length <= harmlessMax) return null
  const { TokenKind, Tokenizer } = loadLiquid()
  let total = 0
  for (const token of new Tokenizer(text).readTopLevelTokens()) {
    if (token.kind === TokenKind.HTML) continue
    const written = token.getText()
    // A comment tag is not evaluated.
    if (/^\{%-?\s*#/.test(written)) continue
    const expression = written.replaceAll(quoted, '""')
    const exceeded = exceededLimit(expression)
    const [line = 1, column = 1] = exceeded === null ? [] : token.getPosition()
    if (exceeded !== null) return { kind: 'expression_too_long', line, column, ...exceeded }
    total += expression.length
    if (total > expressionsMax) return { kind: 'too_costly' }
  }
  return null
}

function exceededLimit(expression: string): { counted: Counted; most: number } | null {
  if (expression.length > expressionMax) return { counted: 'characters', most: expressionMax }
  if (expression.split('|').length > filtersMax + 1) return { counted: 'filters', most: filtersMax }
  const canExceed = expression.length > 2 * namesMax
  if (canExceed && longestPath(expression) > namesMax) return { counted: 'names', most: namesMax }
  return null
}

/**
 * Counts the names in the longest path. Brackets are one name of the path around them, and the path in the brackets is
 * counted separately: `a[b.c].d` has three names (`a`, the brackets, `d`).
 */
function longestPath(expression: string): number {
  const outer: number[] = []
  let names = 0
  let longest = 0
  for (let at = 0; at < expression.length; at++) {
    const character = expression[at] as string
    if (character === '[') {
      outer.push(names + 1)
      names = 0
    } else if (character === ']') names = outer.pop() ?? 0
    else if (character === '.' && expression[at + 1] === '.') {
      // A range, such as `(1..a.b)`, begins a new path.
      names = 0
      at++
    } else if (character === '.') names++
    else if (!ofName.test(character)) names = 0
    longest = Math.max(longest, names + 1, ...outer.slice(-1))
  }
  return longest
}
