import { unescapePointer } from './schema.ts'

export type Ref = { $ref?: string }

/** Follows a chain of references inside the document. Redocly has already refused broken references. */
export function resolve<T extends Ref>(raw: object, node: T): T {
  let here = node
  while (here.$ref !== undefined) {
    const keys = here.$ref.slice(2).split('/').map(unescapePointer)
    here = keys.reduce<unknown>((parent, key) => (parent as Record<string, unknown>)[key], raw) as T
  }
  return here
}
