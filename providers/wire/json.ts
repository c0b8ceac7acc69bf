/** Reads vendors' JSON. Any field may be missing or have an unexpected type. */
import { excessOf } from '../../runtime/engine/json.ts'
import { protocolError } from './failures.ts'

export type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text shorter than this is not checked, because it cannot be nested too deeply. Most stream events are shorter. */
const harmlessMax = 1024
/** The most JSON values in a response. The words in a transcript for ten hours have 450,000 values. */
const valuesMax = 500_000

/**
 * Parses a vendor's JSON. Throws SyntaxError, or ProviderError `protocol` if the text is nested too deeply or has too
 * many values: two million levels need 500 MB and overflow the stack in recursive code.
 */
export function parseVendorJson(text: string): unknown {
  const excess = text.length > harmlessMax ? excessOf(text, valuesMax) : null
  if (excess !== null) throw protocolError(`JSON with more than ${excess}`)
  return JSON.parse(text)
}

/** Returns the objects in a list, without any other items. Returns an empty list if the value is not a list. */
export const objectsOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Returns the unchanged text, or an empty text if the value is not a string. */
export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Returns the text without surrounding white space, or an empty text if the value is not a string. */
export const trimmed = (value: unknown): string => stringOf(value).trim()

/** Reads a required string. Throws ProviderError `protocol` if the string is missing. */
export function stringAt(object: JsonObject, name: string): string {
  const value = object[name]
  if (typeof value !== 'string') throw protocolError(`no ${name}`)
  return value
}

/** Converts seconds to whole milliseconds, never negative. Returns zero if the value is not a number. */
export const milliseconds = (seconds: unknown): number =>
  typeof seconds === 'number' ? Math.max(0, Math.round(seconds * 1000)) : 0

/** Returns the objects in a list with both a `start` and an `end`. */
export const timedObjectsOf = (value: unknown): JsonObject[] =>
  objectsOf(value).filter(({ start, end }) => Number.isFinite(start) && Number.isFinite(end))

/** Converts `start` and `end` from seconds to milliseconds. */
export const timesOf = ({ start, end }: JsonObject) => ({ startMs: milliseconds(start), endMs: milliseconds(end) })

/** Returns a token count, or zero if the value is not a positive whole number. */
export const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0

/** Returns the count in the field `name`, or zero if the object or the field is missing. */
export const countAt = (value: unknown, name: string): number => (isObject(value) ? countOf(value[name]) : 0)
