/**
 * Readers of the JSON that vendors send. No field in it can be trusted to be there, or to have the type that was
 * agreed.
 */
import { protocolError } from './failures.ts'

export type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The objects in a list. Items that are not objects are left out; a value that is not a list gives none. */
export const objectsOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** The text as it came; empty for a value that is not a string. */
export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The text without the white space around it; empty for a value that is not a string. */
export const trimmed = (value: unknown): string => stringOf(value).trim()

/**
 * A field that must be a string. Throws ProviderError `protocol`, because without it the answer is not the one that
 * was agreed.
 */
export function stringAt(object: JsonObject, name: string): string {
  const value = object[name]
  if (typeof value !== 'string') throw protocolError(`no ${name}`)
  return value
}

/** Seconds as whole milliseconds, never negative. Zero for a value that is not a number. */
export const milliseconds = (seconds: unknown): number =>
  typeof seconds === 'number' ? Math.max(0, Math.round(seconds * 1000)) : 0

/** The objects in a list that have both a `start` and an `end`. */
export const timedObjectsOf = (value: unknown): JsonObject[] =>
  objectsOf(value).filter(({ start, end }) => Number.isFinite(start) && Number.isFinite(end))

/** `start` and `end`, which are in seconds. */
export const timesOf = ({ start, end }: JsonObject) => ({ startMs: milliseconds(start), endMs: milliseconds(end) })

/** A count of tokens; zero for a value that is not a positive whole number. */
export const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0

/** The count under `name` in an object; zero if either is missing. */
export const countAt = (value: unknown, name: string): number => (isObject(value) ? countOf(value[name]) : 0)
