/**
 * Checks values with users' JSON Schemas (2020-12). The schema is interpreted: a small schema takes 10 µs. A hostile
 * schema (a backtracking pattern, a reference to itself) is stopped after `checkMs`, and not run for some time after
 * `stopsMax` stops.
 */
import { createHash } from 'node:crypto'
import { createContext, Script } from 'node:vm'
import type { Validator } from '@cfworker/json-schema'
import { loadSchemaInterpreter } from '../optional.ts'

const checkMs = 50
/** The maximum number of faults that are listed. */
const faultsMax = 20
const root = '/'
const unchecked = [`${root} cannot be checked in time`]

const validators = new WeakMap<object, Validator>()
/**
 * Counts how often an organization's schema was stopped, by the schema's content, because each session has a new copy.
 * A busy machine may stop a good schema. After `stopsMax` stops, every value counts as invalid until the count expires.
 */
const stopped = new Map<string, { stops: number; endMs: number }>()
const stopsMax = 3
const stopsMs = 600_000
/** The maximum number of schemas in `stopped`. The oldest count is dropped first. */
const stoppedMax = 1000
const stopKeys = new WeakMap<object, string>()
/**
 * The maximum number of repetitions of a check. A check is repeated if other processes had the CPU for most of its
 * time, and its tries together have not used `checkMs`. With only three repetitions, an overloaded machine refused good
 * values.
 */
const waitsMax = 20

/** V8 can end a script run after a time limit, even inside a regular expression. */
const timed = createContext({ run: () => {} })
const runTimed = new Script('run()')

/**
 * Returns a value's faults, each a JSON Pointer and the broken rule: `/city is missing`. '/' is the whole value. If the
 * value cannot be checked in time, it breaks the schema as a whole. No fault repeats a value. `schema` must have passed
 * `schemaFault`. `owner` is the organization: its stopped checks do not count for another organization with an equal
 * schema.
 */
export function valueFaults(schema: object, value: unknown, owner: string): readonly string[] {
  if (stopped.size > 0 && stopsOf(schema, owner) >= stopsMax) return unchecked
  // If a module's loading is interrupted, the module stays broken. So it is loaded before the time limit starts.
  const { Validator } = loadSchemaInterpreter()
  let faults: string[] = []
  const check = () => {
    faults = faultsOf(validatorOf(schema, Validator).validate(value).errors)
  }
  let totalMs = 0
  for (let waits = 0; ; waits++) {
    const usedMs = runInTime(check)
    if (usedMs === null) return faults
    totalMs += usedMs
    if (usedMs < checkMs / 2 && totalMs < checkMs && waits < waitsMax) continue
    countStop(schema, owner)
    return unchecked
  }
}

function stopsOf(schema: object, owner: string): number {
  const key = stopKeyOf(schema, owner)
  const counted = stopped.get(key)
  if (counted === undefined) return 0
  if (performance.now() < counted.endMs) return counted.stops
  stopped.delete(key)
  return 0
}

function countStop(schema: object, owner: string): void {
  const stops = stopsOf(schema, owner) + 1
  const key = stopKeyOf(schema, owner)
  stopped.delete(key)
  stopped.set(key, { stops, endMs: performance.now() + stopsMs })
  const [oldest] = stopped.keys()
  if (stopped.size > stoppedMax && oldest !== undefined) stopped.delete(oldest)
}

/** Returns the schema's key in `stopped`. A schema object has one owner, so its key is computed once. */
function stopKeyOf(schema: object, owner: string): string {
  const known = stopKeys.get(schema)
  if (known !== undefined) return known
  const key = createHash('sha256')
    .update(JSON.stringify([owner, schema]))
    .digest('base64')
  stopKeys.set(schema, key)
  return key
}

/**
 * Runs a check. Returns null if it ended, and otherwise the CPU time that it used until it was stopped: little if
 * another process had the CPU meanwhile, and Infinity if its references never end. The CPU time includes all threads in
 * this process, so a hostile check never seems to have waited.
 */
function runInTime(run: () => void): number | null {
  timed['run'] = run
  const before = process.cpuUsage()
  try {
    runTimed.runInContext(timed, { timeout: checkMs })
    return null
  } catch (error) {
    if (!isTimeout(error)) return Number.POSITIVE_INFINITY
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}

/**
 * True if the time limit ended the script. Endless references end it with a stack overflow instead, long before the
 * limit. The error comes from the other context, so `instanceof` fails.
 */
function isTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}

function validatorOf(schema: object, Interpreter: typeof Validator): Validator {
  const cached = validators.get(schema)
  if (cached) return cached
  const made = new Interpreter(schema, '2020-12', false)
  validators.set(schema, made)
  return made
}

type SchemaError = ReturnType<Validator['validate']>['errors'][number]

/** Lists the innermost faults, because a fault is also reported for every enclosing value. */
function faultsOf(errors: readonly SchemaError[]): string[] {
  const byPath = new Map<string, SchemaError[]>()
  for (const error of errors) {
    const path = pathOf(error)
    byPath.set(path, [...(byPath.get(path) ?? []), error])
  }
  const all = [...byPath.keys()]
  const innermost = all.filter((path) => !all.some((other) => other !== path && isInside(other, path)))
  return innermost.slice(0, faultsMax).map((path) => `${path} ${ruleOf(byPath.get(path) ?? [])}`)
}

/** Keywords that only report a broken rule below them. */
const outerKeywords =
  /^(\$ref|\$recursiveRef|allOf|if|properties|patternProperties|additionalProperties|items|prefixItems)$/
/**
 * Keywords for a union. The union itself is reported, because one member's error says little: the value may be meant
 * for another member.
 */
const unions = /^(anyOf|oneOf|not)$/

function ruleOf(errors: readonly SchemaError[]): string {
  const inner = errors.filter(({ keyword }) => !outerKeywords.test(keyword))
  const broken = inner.find(({ keyword }) => unions.test(keyword)) ?? inner[0] ?? errors[0]
  if (broken === undefined) return 'breaks the schema'
  const { keyword, error } = broken
  if (keyword === 'required') return 'is missing'
  if (keyword === 'false') return 'is not allowed'
  const [, types] = keyword === 'type' ? (/Expected "(.*)"\.$/u.exec(error) ?? []) : []
  return types === undefined ? `breaks the rule ${keyword}` : `must be ${types.replaceAll('", "', ' or ')}`
}

function pathOf({ instanceLocation, keyword, error }: SchemaError): string {
  const path = decodeURI(instanceLocation.slice(1))
  // The error for a missing property has its object's location. Only the error's text names the property.
  const missing = keyword === 'required' ? /"(.*)"/su.exec(error)?.[1] : undefined
  return missing === undefined ? path || root : `${path}/${missing}`
}

const isInside = (inner: string, outer: string) => outer === root || inner.startsWith(`${outer}/`)
