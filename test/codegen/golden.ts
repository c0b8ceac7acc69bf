/**
 * Compares generated files with the golden files beside these tests. UPDATE_GOLDEN=1 writes the golden files; read the
 * diff afterwards. This file also makes invalid documents from a good document by steps.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type t from 'tap'

export const folder = import.meta.dirname
/** The shared components for these tests, which replace specs/shared.yaml. */
export const shared = {
  Scope: { type: 'string', enum: ['things', 'talking', 's'] },
  Role: { type: 'string', enum: ['reader', 'writer'] },
}

export function golden(test: Pick<typeof t, 'equal'>, file: string, text: string): void {
  const path = join(folder, file)
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  test.equal(text, readFileSync(path, 'utf8'), file)
}

/** A step names a value in the document by its keys: `remove: [...keys]`, or `set: [...keys, value]`. */
export type Step = { set?: unknown[]; remove?: string[] }

/** Turns a good document into a bad one. */
export function change(document: unknown, { set, remove }: Step): void {
  const keys = (set ? set.slice(0, -1) : remove) as string[]
  const last = keys.at(-1) as string
  const parent = keys.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document)
  const at = parent as Record<string, unknown>
  if (set) at[last] = set.at(-1)
  else delete at[last]
}
