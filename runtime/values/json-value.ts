/**
 * Checks values with JSON Schemas (2020-12) of users. The schema is interpreted: a small one takes 10 µs. A hostile one
 * (a pattern that backtracks, a reference to itself) is stopped after `checkMs`, and after `stopsMax` times it takes no more.
 */
import { createContext, Script } from 'node:vm'
import type { Validator } from '@cfworker/json-schema'
import { loadSchemaInterpreter } from '../optional.ts'

const checkMs = 50
/** More faults are not named. */
const faultsMax = 20
const root = '/'
const unchecked = [`${root} cannot be checked in time`]

const validators = new WeakMap<object, Validator>()
/** How often a schema was stopped. A busy machine may stop a good schema; after `stopsMax` times every value breaks the schema. */
const stopped = new WeakMap<object, number>()
const stopsMax = 3
/** How often a check is begun again because the process had no core for most of it. */
const waitsMax = 3

/** V8 ends a run of a script that takes too long, also in the middle of a regular expression. */
const timed = createContext({ run: () => {} })
const runTimed = new Script('run()')

/**
 * The faults of a value, each a JSON Pointer and the rule that is broken: `/city is missing`. '/' is the whole value. A value
 * that cannot be checked in time breaks the schema as a whole. No fault repeats a value. `schema` must have passed `schemaFault`.
 */
export function valueFaults(schema: object, value: unknown): readonly string[] {
  const stops = stopped.get(schema) ?? 0
  if (stops >= stopsMax) return unchecked
  // A module whose loading is stopped half way is broken for good, so it is loaded before the time counts.
  const { Validator } = loadSchemaInterpreter()
  let faults: string[] = []
  const check = () => {
    faults = faultsOf(validatorOf(schema, Validator).validate(value).errors)
  }
  for (let waits = 0; ; waits++) {
    const end = runInTime(check)
    if (end === 'done') return faults
    if (end === 'waited' && waits < waitsMax) continue
    stopped.set(schema, stops + 1)
    return unchecked
  }
}

/**
 * `stopped`: the check took too long, or its references never end. `waited`: another process had the core meanwhile. All threads
 * of this process count as the check, so that a hostile check is never taken for one that waited.
 */
function runInTime(run: () => void): 'done' | 'stopped' | 'waited' {
  timed['run'] = run
  const before = process.cpuUsage()
  try {
    runTimed.runInContext(timed, { timeout: checkMs })
    return 'done'
  } catch (error) {
    if (!isTimeout(error)) return 'stopped'
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 < checkMs / 2 ? 'waited' : 'stopped'
  }
}

/** References that never end fill the stack long before the time is over. The error is one of the other context. */
function isTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}

function validatorOf(schema: object, Interpreter: typeof Validator): Validator {
  const known = validators.get(schema)
  if (known) return known
  const made = new Interpreter(schema, '2020-12', false)
  validators.set(schema, made)
  return made
}

type SchemaError = ReturnType<Validator['validate']>['errors'][number]

/** A fault is also reported for every value that holds it. Only the innermost is named. */
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

/** These report only that a rule below them is broken. */
const outerKeywords =
  /^(\$ref|\$recursiveRef|allOf|if|properties|patternProperties|additionalProperties|items|prefixItems)$/
/** An arm of a union that does not fit says little: another arm was meant. */
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
  // The location of a missing property is that of its object, and the text of the error names it.
  const missing = keyword === 'required' ? /"(.*)"/su.exec(error)?.[1] : undefined
  return missing === undefined ? path || root : `${path}/${missing}`
}

const isInside = (inner: string, outer: string) => outer === root || inner.startsWith(`${outer}/`)
