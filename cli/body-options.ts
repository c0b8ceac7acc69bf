/** Builds a request body from a file and from fields on the command line. */
import { UsageError } from './command-error.ts'
import { readObject } from './read-object.ts'

type Given = { file?: string; set: readonly string[] }

export async function bodyOf(need: 'required' | 'optional', { file, set }: Given): Promise<{ body?: object }> {
  if (file === undefined && set.length === 0) {
    if (need === 'optional') return {}
    throw new UsageError('name the fields of the request with --set, or a file with --file')
  }
  const body = file === undefined ? {} : await readObject(file)
  for (const field of set) setField(body, field)
  return { body }
}

function setField(body: Record<string, unknown>, text: string): void {
  const at = text.indexOf('=')
  const names = text.slice(0, Math.max(at, 0)).split('.')
  const last = names.pop()
  if (!last || names.includes('')) throw new UsageError(`--set takes FIELD=VALUE, not ${text}`)
  let inside = body
  for (const name of names) inside = objectIn(inside, name)
  define(inside, last, valueOf(text.slice(at + 1)))
}

function objectIn(of: Record<string, unknown>, name: string): Record<string, unknown> {
  const existing = Object.hasOwn(of, name) ? of[name] : undefined
  if (typeof existing === 'object' && existing !== null && !Array.isArray(existing))
    return existing as Record<string, unknown>
  const made: Record<string, unknown> = {}
  define(of, name, made)
  return made
}

/** Sets a field with any name. An assignment to `__proto__` would set no field. */
function define(of: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(of, name, { value, enumerable: true, configurable: true, writable: true })
}

/**
 * Reads a field's value. `true`, `12`, `null`, `["a"]` and `{"a":1}` are JSON. Any other text stays a text. `"12"` with
 * quotes is a text too.
 */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
