/** Keeps the names in one scope unique, such as the types in a module or a record's fields. */
import { pascalCase } from './names.ts'

/** The names of the types in one module. */
export class TypeNames {
  readonly #used: Set<string>

  /** `foreign` are names that the module uses for other types. */
  constructor(foreign: readonly string[]) {
    this.#used = new Set(foreign)
  }

  /** Reserves a name in the module. If the name is in use, the suffix is added. */
  take(name: string, suffix = 'Value'): string {
    const pascal = pascalCase(name)
    const free = this.#used.has(pascal) ? pascal + suffix : pascal
    if (this.#used.has(free)) throw new Error(`two types have the name ${free} in a generated client`)
    this.#used.add(free)
    return free
  }
}

/**
 * Makes the names in a small scope unique, such as a record's fields. `taken` are in use already. Names with the
 * same key count as equal.
 */
export function distinct(
  names: readonly string[],
  suffix: string,
  taken: readonly string[] = [],
  keyOf: (name: string) => string = (name) => name,
): string[] {
  const used = new Set(taken.map(keyOf))
  return names.map((name) => {
    let free = name
    while (used.has(keyOf(free))) free += suffix
    used.add(keyOf(free))
    return free
  })
}
