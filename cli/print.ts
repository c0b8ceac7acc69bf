/**
 * Prints a value as JSON for programs, or as lines for people. Every list is printed as `{ data, nextCursor }`,
 * although operations name the rows differently.
 */
export function print(json: boolean, value: unknown, lines: () => readonly string[]): void {
  console.log(json ? JSON.stringify(shaped(value), null, 2) : lines().join('\n'))
}

function shaped(value: unknown): unknown {
  const list = typeof value === 'object' && value !== null ? listIn(value) : null
  return list === null ? value : { ...list.rest, data: list.items, nextCursor: list.nextCursor }
}

type List = { items: readonly unknown[]; nextCursor: string | null; rest: object }

/** In an operation's answer, a list is in a field with one of these names. */
const listNames = ['data', 'entries', 'models', 'events', 'callbacks', 'movements', 'numbers', 'providers', 'calls']
const alwaysLists = ['data', 'entries', 'models']

/** Returns the list in `value`, or null if `value` is a single object. */
export function listIn(value: object): List | null {
  if (Array.isArray(value)) return { items: value, nextCursor: null, rest: {} }
  const fields = value as Record<string, unknown>
  const name = listNames.find((each) => Array.isArray(fields[each]))
  // A single object can contain a list too: a configuration contains providers. So a cursor, the list's name or the
  // lack of other fields must show that the value is a list.
  const isPaged = 'nextCursor' in fields || 'next_cursor' in fields
  const isList = name !== undefined && (isPaged || alwaysLists.includes(name) || Object.keys(value).length === 1)
  if (!isList) return null
  const { nextCursor, next_cursor: nextCursorInSnakeCase, [name]: items, ...rest } = fields
  return { items: items as unknown[], nextCursor: (nextCursor ?? nextCursorInSnakeCase ?? null) as string | null, rest }
}
