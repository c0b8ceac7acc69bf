/**
 * Loads a file of a package with some lines repaired. The file is CommonJS, so it can be compiled from changed text.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { compileFunction } from 'node:vm'

export type Repair = readonly [before: string, after: string]

/**
 * Loads the file for all later imports by `require`. Throws if the file has another text than the repairs expect,
 * because the new version must be reviewed first. `reviewedIn` is the file with the repairs.
 */
export function loadRepaired(
  require: NodeJS.Require,
  file: string,
  repairs: readonly Repair[],
  reviewedIn: string,
): unknown {
  const compiled = { exports: {}, filename: file, loaded: true } as NodeJS.Module
  const run = compileFunction(
    repaired(readFileSync(file, 'utf8'), repairs, reviewedIn),
    ['module', 'exports', 'require', '__filename', '__dirname'],
    { filename: file },
  ) as (...parts: unknown[]) => void
  run(compiled, compiled.exports, createRequire(file), file, path.dirname(file))
  require.cache[file] = compiled
  return compiled.exports
}

function repaired(text: string, repairs: readonly Repair[], reviewedIn: string): string {
  return repairs.reduce((whole, [before, after]) => {
    if (whole.split(before).length !== 2) throw new Error(`a package is another version: see ${reviewedIn}`)
    return whole.replace(before, after)
  }, text)
}
