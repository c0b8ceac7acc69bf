/**
 * Finds repeated items in a list. The schemas do not use `uniqueItems` for this: validators compare every pair of
 * items, so a long list would take too much time.
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
