/** Compares the contracts in the working files with a release. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { compareContracts, withoutAnnounced } from './breaks.ts'
import { type Contracts, filesAt, filesIn, readContracts } from './contracts.ts'
import { releasesIn, releaseWithNotice } from './releases.ts'
import type { Break } from './values.ts'

export type Report = {
  breaks: Break[]
  /**
   * The number of breaking changes that are allowed, because an earlier release announced them in time. They are not in
   * `breaks`.
   */
  announced: number
}

/**
 * Compares the contracts in the folder `root` with the baseline: a tag, a commit, or a folder with generated/. Returns
 * null if the baseline has no contracts.
 */
export function compareWith(baseline: string, root: string, nowMs: number): Report | null {
  const before = contractsOf(baseline, root)
  if (before.size === 0) return null
  const all = compareContracts(before, readContracts(filesIn(root)))
  const release = releaseWithNotice(releasesIn(root), nowMs)
  const breaks = release ? withoutAnnounced(all, contractsOf(release.tag, root)) : all
  return { breaks, announced: all.length - breaks.length }
}

function contractsOf(baseline: string, root: string): Contracts {
  return readContracts(existsSync(join(baseline, 'generated')) ? filesIn(baseline) : filesAt(baseline, root))
}
