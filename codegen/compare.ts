/**
 * Fails if the working files' contracts would break clients of an earlier release. `tsx codegen/compare.ts` compares
 * the working files with the last release's tag, `tsx codegen/compare.ts BASELINE` with another tag or commit, or with
 * a folder with generated/. docs/governance.md has the rules.
 */
import { join } from 'node:path'
import { compareWith } from './compare/baseline.ts'
import { formatBreak } from './compare/breaks.ts'
import { releasesIn } from './compare/releases.ts'

const root = join(import.meta.dirname, '..')
const baseline = process.argv[2] ?? releasesIn(root)[0]?.tag

if (baseline === undefined) console.log('There is no release yet (no tag v… in git), so no contract can be broken.')
else process.exitCode = report(baseline)

function report(baseline: string): number {
  const result = compareWith(baseline, root, Date.now())
  if (result === null) {
    console.error(`${baseline} has no contracts: it is no tag, commit or folder with generated/`)
    return 2
  }
  const { breaks, announced } = result
  for (const one of breaks) console.error(formatBreak(one))
  console.log(`${breaks.length} breaks against ${baseline}, and ${announced} announced in time`)
  return breaks.length > 0 ? 1 : 0
}
