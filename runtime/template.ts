/** Liquid templates of users. A template cannot read files, and cannot take more than a bounded time to read. */
import type { Liquid } from 'liquidjs'
import { loadLiquid } from './optional.ts'

export type TemplateFault =
  /** Counted from 1. */
  { kind: 'malformed'; line: number; column: number } | { kind: 'too_large'; tagsMax: number }

/** Reading takes about 15 µs a tag or output: this many take 30 ms. */
const tagsMax = 2_000
/** UTF-16 units. */
const lengthMax = 131_072

/** These read files. `liquid` holds a tag a line, which `tagsMax` does not count. */
const withoutTags = ['include', 'render', 'layout', 'block', 'liquid']

let engine: Liquid | null = null

function createEngine(): Liquid {
  const { Liquid } = loadLiquid()
  const made = new Liquid({ strictFilters: true, ownPropertyOnly: true, parseLimit: lengthMax })
  for (const tag of withoutTags) delete made.tags[tag]
  return made
}

/** Null: the text is a template. It is not rendered, so that a variable may have any value or none. */
export function templateFault(text: string): TemplateFault | null {
  if (countTags(text) > tagsMax) return { kind: 'too_large', tagsMax }
  engine ??= createEngine()
  try {
    engine.parse(text)
    return null
  } catch (error) {
    const [line, column] = placeOf(error)
    return { kind: 'malformed', line, column }
  }
}

function countTags(text: string): number {
  let count = 0
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) {
    const next = text[at + 1]
    if (next === '{' || next === '%') {
      count += 1
      at += 1
    }
  }
  return count
}

/** The message of the error quotes the template, so only the place is taken. */
function placeOf(error: unknown): [line: number, column: number] {
  const { LiquidError } = loadLiquid()
  if (!LiquidError.is(error)) return [1, 1]
  const [line = 1, column = 1] = error.token.getPosition()
  return [line, column]
}
