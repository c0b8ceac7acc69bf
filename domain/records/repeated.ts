/**
 * Finds repeated list items. No schema uses `uniqueItems`, because its validators compare every pair in a list however
 * long.
 */
import type { Issue, ValuePath } from './resource-fault.ts'

export function repeatedNames(path: ValuePath, items: readonly { name: string }[]): Issue[] {
  const names = items.map(({ name }) => name)
  return repeatedItems(path, names).map((issue) => ({ ...issue, path: [...issue.path, 'name'] }))
}

export function repeatedItems(path: ValuePath, items: readonly string[]): Issue[] {
  return items.flatMap((item, at): Issue[] =>
    items.indexOf(item) === at ? [] : [{ path: [...path, at], problem: { kind: 'repeated' } }],
  )
}
