/** Compares with a file beside the test; UPDATE_GOLDEN=1 writes it instead, to be read in the diff. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type t from 'tap'

export const folder = import.meta.dirname

export function golden(test: Pick<typeof t, 'equal'>, file: string, text: string): void {
  const path = join(folder, file)
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  test.equal(text, readFileSync(path, 'utf8'), file)
}
