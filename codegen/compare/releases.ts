/** Finds the releases among the repository's tags. */
import { execFileSync } from 'node:child_process'

export type Release = { tag: string; atMs: number }

/** Returns the releases, the latest first. Without git or without tags the list is empty. */
export function releasesIn(folder: string): Release[] {
  const format = '--format=%(refname:short) %(creatordate:unix)'
  try {
    const options = { cwd: folder, encoding: 'utf8', stdio: 'pipe' } as const
    const text = execFileSync(
      'git',
      ['for-each-ref', '--merged=HEAD', '--sort=-creatordate', format, 'refs/tags/v*'],
      options,
    )
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [tag = '', seconds] = line.split(' ')
        return { tag, atMs: Number(seconds) * 1000 }
      })
  } catch {
    return []
  }
}

const dayMs = 86_400_000
/** How long a part must have been deprecated in a release before it may change. */
export const noticeDays = 90

/**
 * Returns the latest release that is at least `noticeDays` old: its deprecations were announced in time. Undefined
 * without such a release.
 */
export function releaseWithNotice(releases: readonly Release[], nowMs: number): Release | undefined {
  return releases.find(({ atMs }) => atMs <= nowMs - noticeDays * dayMs)
}
