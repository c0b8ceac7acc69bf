/** Users' Liquid templates. A template cannot read files, and its parsing time is bounded. */
import type { Emitter, FilterImplOptions, Liquid, Template } from 'liquidjs'
import { loadLiquid } from '../optional.ts'
import { type ExpressionFault, expressionFault } from './template-limits.ts'

export type TemplateFault =
  /** Line and column are counted from 1. */
  { kind: 'malformed'; line: number; column: number } | { kind: 'too_large'; tagsMax: number } | ExpressionFault

/** The maximum number of tags in a template. Parsing takes about 15 µs for each tag or output: this many take 30 ms. */
const tagsMax = 2_000
/** The most UTF-16 units in a template. */
const lengthMax = 131_072

/**
 * Tags removed from the language. They read files, except `liquid`: each line in it is a tag, and `tagsMax` does not
 * count these.
 */
const withoutTags = ['include', 'render', 'layout', 'block', 'liquid']

/**
 * Filters removed from the language. Each evaluates an expression in quotes for each item of a list, and the limits for
 * expressions do not count quoted text.
 */
const withoutFilters = ['where_exp', 'reject_exp', 'group_by_exp', 'find_exp', 'find_index_exp', 'has_exp']

let engine: Liquid | null = null

function createEngine(): Liquid {
  const { Liquid } = loadLiquid()
  const made = new Liquid({ strictFilters: true, lenientIf: true, ownPropertyOnly: true, parseLimit: lengthMax })
  for (const tag of withoutTags) delete made.tags[tag]
  for (const filter of withoutFilters) delete made.filters[filter]
  for (const [name, filter] of Object.entries(made.filters)) made.filters[name] = withTimeLimit(filter)
  return made
}

/**
 * Makes a filter check the time limit. Liquid itself checks the limit only between tags and outputs, and a chain of
 * filters is one output.
 */
function withTimeLimit(filter: FilterImplOptions): FilterImplOptions {
  const { raw, handler } = typeof filter === 'function' ? { raw: false, handler: filter } : filter
  return {
    raw,
    handler(...given): unknown {
      this.context.renderLimit.check(performance.now())
      return handler.apply(this, given)
    },
  }
}

/**
 * Returns null if the text is a template, else its fault. It is not rendered, so a variable may have any value or be
 * missing.
 */
export function templateFault(text: string): TemplateFault | null {
  if (countTags(text) > tagsMax) return { kind: 'too_large', tagsMax }
  engine ??= createEngine()
  try {
    const fault = expressionFault(text)
    if (fault !== null) return fault
    engine.parse(text)
    return null
  } catch (error) {
    const [line, column] = placeOf(error)
    return { kind: 'malformed', line, column }
  }
}

export type Rendered = { text: string; missing: string[] } | { kind: 'render_failed' }

/**
 * The longest time for one template, with its parsing and all tries to render it, so no other request waits for 50 ms.
 */
const renderMs = 35
/** The tries to render a template may always take this long, even if parsing took most of `renderMs`. */
const triesMs = 10
/**
 * The maximum number of repetitions of a rendering. A busy machine can suspend the process beyond the limit, although
 * nothing is rendered meanwhile.
 */
const asideMax = 5
/** The longest rendered text, in UTF-16 units. */
const renderedLengthMax = 131_072
/** The maximum number of missing variables and fields; each costs another try. */
const lacksMax = 64

/**
 * Renders the template. A value is text and is not rendered again. `missing` names variables without a value and
 * without a `default` filter; they are rendered as nothing. Unknown names below `system` are not missing.
 */
export function renderTemplate(
  text: string,
  values: Readonly<Record<string, string>>,
  system: Readonly<Record<string, string>>,
): Rendered {
  const liquid = (engine ??= createEngine())
  try {
    const parseCpu = process.cpuUsage()
    if (expressionFault(text) !== null) return { kind: 'render_failed' }
    const parsed = liquid.parse(text)
    const limitMs = Math.max(triesMs, renderMs - cpuMsSince(parseCpu))
    const startCpu = process.cpuUsage()
    for (let asides = 0; ; asides++) {
      const leftMs = limitMs - cpuMsSince(startCpu)
      try {
        return renderWithin(liquid, parsed, { values, system }, leftMs)
      } catch (error) {
        const isFinal = error instanceof TooMuch || asides === asideMax
        if (isFinal || cpuMsSince(startCpu) >= limitMs) throw error
      }
    }
  } catch {
    return { kind: 'render_failed' }
  }
}

/** Returns the CPU time of all threads in the process, so never less than the rendering time. */
function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

type Given = Record<'values' | 'system', Readonly<Record<string, string>>>

/**
 * Renders within the limit. Throws if the template takes too long, its text is too long, or it lacks too many
 * variables.
 */
function renderWithin(liquid: Liquid, parsed: Template[], { values, system }: Given, limitMs: number): Rendered {
  // Without a prototype, `__proto__` is a name like any other.
  const scope: Scope = Object.assign(Object.create(null) as Scope, values, { system: { ...system } })
  const missing = new Set<string>()
  // Uses the machine's clock, like Liquid's limit.
  const endMs = performance.now() + limitMs
  for (let tries = 0; tries < lacksMax; tries++) {
    // Liquid checks the time only between tags and outputs.
    if (tries > 0 && performance.now() >= endMs) throw new Error('the template takes too long')
    const outcome = tryRender(liquid, parsed, scope, endMs - performance.now())
    if (typeof outcome === 'object') return { text: outcome.text, missing: [...missing] }
    const [root = '', ...fields] = outcome.split('.')
    if (!Object.hasOwn(scope, root)) missing.add(root)
    fillIn(scope, root, fields)
  }
  throw new TooMuch('the template lacks too much')
}

type Scope = { [name: string]: string | Scope }

/** Sets the missing variable `root.field.field` to an empty text, and creates its parents. */
function fillIn(scope: Scope, root: string, fields: readonly string[]): void {
  const [field, ...rest] = fields
  if (field === undefined) {
    scope[root] = ''
    return
  }
  const current = Object.hasOwn(scope, root) ? scope[root] : undefined
  const inner: Scope = typeof current === 'object' ? current : {}
  scope[root] = inner
  fillIn(inner, field, rest)
}

/**
 * Returns the rendered text, or a missing variable's name. Throws if the template takes too long or its text is too
 * long.
 */
function tryRender(engine: Liquid, parsed: Template[], scope: Scope, leftMs: number): { text: string } | string {
  const output = new BoundedOutput()
  try {
    const limits = { renderLimit: Math.max(leftMs, 1), memoryLimit: renderedLengthMax }
    const { Context, toValueSync } = loadLiquid()
    const options = { sync: true, strictVariables: true, ...limits }
    const context = new Context(scope, engine.options, options, { liquid: engine })
    toValueSync(engine.renderer.renderTemplates(parsed, context, output))
    return { text: output.buffer }
  } catch (error) {
    if (output.isFull) throw new TooMuch('the rendered text is too long')
    const name = missingName(error)
    if (name === null) throw error
    return name
  }
}

/** Thrown if rendering exceeds a limit: another try would fail in the same way. */
class TooMuch extends Error {}

/** Collects the rendered text. Throws at the first piece beyond the limit, so no longer text is made. */
class BoundedOutput implements Emitter {
  buffer = ''

  get isFull(): boolean {
    return this.buffer.length > renderedLengthMax
  }

  write(piece: unknown): void {
    this.buffer += textOf(piece)
    if (this.isFull) throw new TooMuch()
  }
}

type Written = string | number | boolean | null | undefined | Written[]

/** Writes a value as Liquid does. */
function textOf(value: unknown): string {
  const plain = loadLiquid().toValue(value) as Written
  if (Array.isArray(plain)) return plain.map(textOf).join('')
  return plain === null || plain === undefined ? '' : String(plain)
}

/**
 * Returns the missing variable's name, or null for another error. liquidjs's public error names the variable only in
 * its message. Its inner error has a field for the name.
 */
function missingName(error: unknown): string | null {
  if (!(error instanceof loadLiquid().UndefinedVariableError)) return null
  const inner: unknown = error.originalError
  return typeof inner === 'object' && inner && 'variableName' in inner ? String(inner.variableName) : null
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

/** Returns the error's line and column. Its message quotes the template, so only the position is used. */
function placeOf(error: unknown): [line: number, column: number] {
  const { LiquidError } = loadLiquid()
  if (!LiquidError.is(error)) return [1, 1]
  const [line = 1, column = 1] = error.token.getPosition()
  return [line, column]
}
