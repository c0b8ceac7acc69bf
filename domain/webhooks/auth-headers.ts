/**
 * Joins the secret header values in a request with the stored values. Clients see only the headers' names. If a client
 * leaves out a value, the stored value is kept.
 */
import type { Issue, ValuePath } from '../records/resource-fault.ts'
import type { AuthHeaderInput } from '../records/webhook-endpoint.ts'

/** The stored headers' names. `values` decrypts their values, by names in lower case. */
export type StoredHeaders = { names: readonly string[]; values: () => Readonly<Record<string, string>> }

export type JoinedHeaders = { values: Record<string, string>; issues: Issue[] }

/**
 * Joins the new list with the stored values. `isMoved` is true if the endpoint has a new origin: the stored values must
 * not be sent there.
 */
export function joinAuthHeaders(
  path: ValuePath,
  headers: readonly AuthHeaderInput[],
  stored: StoredHeaders,
  isMoved: boolean,
): JoinedHeaders {
  const storedNames = new Set(stored.names.map((name) => name.toLowerCase()))
  const issues = headers.flatMap(({ name, value }, at): Issue[] => {
    if (value !== undefined) return []
    const place = [...path, at, 'value']
    if (!storedNames.has(name.toLowerCase())) return [{ path: place, problem: { kind: 'secret_missing' } }]
    return isMoved ? [{ path: place, problem: { kind: 'secret_of_other_origin' } }] : []
  })
  const storedValues = headers.some(({ value }) => value === undefined) && !isMoved ? stored.values() : {}
  const values = headers.map(({ name, value }): [string, string] => {
    const key = name.toLowerCase()
    return [key, value ?? storedValues[key] ?? '']
  })
  return { values: Object.fromEntries(values), issues }
}
