/**
 * Measures the cost of one routing decision in compiled code. A loader that compiles sources would make closures
 * slower.
 */
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type * as Decide from './decide.ts'

/** The compiled file is inside the checkout, because it imports packages. */
const outfile = path.join(import.meta.dirname, '../.cache/bench-decide.mjs')

export async function decisionTime(): Promise<ReturnType<typeof Decide.timeDecisions>> {
  const entryPoints = [path.join(import.meta.dirname, 'decide.ts')]
  await build({ entryPoints, outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm' })
  const { timeDecisions } = (await import(pathToFileURL(outfile).href)) as typeof Decide
  return timeDecisions()
}
