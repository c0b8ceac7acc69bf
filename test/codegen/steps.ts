/** Turns a good document into a bad one. */

/** A step names a place by its keys: `remove: [...keys]`, or `set: [...keys, value]`. */
export type Step = { set?: unknown[]; remove?: string[] }

export function change(document: unknown, { set, remove }: Step): void {
  const keys = (set ? set.slice(0, -1) : remove) as string[]
  const last = keys.at(-1) as string
  const parent = keys.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document)
  const at = parent as Record<string, unknown>
  if (set) at[last] = set.at(-1)
  else delete at[last]
}
