/** Makes a repository with the present tree, for the build machine to clone, and publishes its next version. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { migrations } from '../../../store/migrations/list.ts'

const tree = path.resolve(import.meta.dirname, '../../..')
export const nextVersion = '99.0.0'

export class Repository {
  readonly #work: string
  readonly #bare: string

  /** Makes a bare repository in one folder, and works in another. */
  constructor(bare: string, work: string) {
    this.#bare = bare
    this.#work = work
    mkdirSync(work, { recursive: true })
    const script = `git ls-files -z --cached --others --exclude-standard | { xargs -0 ls -d 2>/dev/null || true; } | tar -c -T - | tar -x -C "$0"`
    execFileSync('bash', ['-c', script, work], { cwd: tree })
    this.#git('init', '--quiet', '--initial-branch=main')
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', bare])
    this.#publish('this version')
  }

  /** Publishes the same product with another version number and one more migration. */
  publishNext(): void {
    this.#edit('package.json', (text) => text.replace(/"version": ".*"/, `"version": "${nextVersion}"`))
    const version = (migrations.at(-1)?.version ?? 0) + 1
    const file = `${String(version).padStart(4, '0')}-next-version.ts`
    writeFileSync(path.join(this.#work, 'store/migrations', file), migration(version))
    this.#edit('store/migrations/list.ts', (text) =>
      `import { nextVersion } from './${file}'\n${text}`.replace(/,?\s*\]\s*$/, ', nextVersion]\n'),
    )
    this.#publish('the next version')
  }

  #edit(name: string, change: (text: string) => string): void {
    const file = path.join(this.#work, name)
    const before = readFileSync(file, 'utf8')
    const after = change(before)
    if (after === before) throw new Error(`${name} could not be changed`)
    writeFileSync(file, after)
  }

  #publish(message: string): void {
    this.#git('add', '--all', '--force')
    this.#git('-c', 'user.name=lane', '-c', 'user.email=lane@localhost', 'commit', '--quiet', '-m', message)
    this.#git('push', '--quiet', this.#bare, 'main')
  }

  #git(...args: string[]): void {
    execFileSync('git', args, { cwd: this.#work, stdio: ['ignore', 'ignore', 'inherit'] })
  }
}

/** Returns a migration that adds an unused column. It locks a table that every request needs. */
function migration(version: number): string {
  return `import type { Migration } from './migration.ts'

export const nextVersion: Migration = {
  version: ${version},
  name: 'a column of the next version',
  sql: 'alter table organizations add column next_version text;',
}
`
}
