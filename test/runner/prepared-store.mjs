// One Postgres for all processes in a run, and a cluster with a schema, which the built program copies at a start.
// Without the copy each start would need more than a second on a core. Both are in the run's temporary folder, which
// tests use as well.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { makeTemporaryFolder } from './temporary-folder.mjs'

/**
 * Prepares the store. Resolves with environment variables for the tests. Without the built program, each test prepares
 * its store.
 */
export async function prepareStore() {
  if (process.env.PARLEY_TEST_POSTGRES !== undefined) return { env: {}, remove: async () => {} }
  const { folder, remove } = makeTemporaryFolder()
  // Other users cannot read this folder, so root keeps its cluster here and copies may be in any folder.
  const clusters = path.join(folder, 'clusters')
  mkdirSync(clusters, { mode: 0o700 })
  const [copied, served] = ['copied', 'served'].map((name) => path.join(clusters, name))
  const made = spawnSync(process.execPath, ['dist/main.js', 'migrate'], {
    env: { ...process.env, PARLEY_DATA_DIR: copied },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (made.status !== 0) {
    console.log(`each process of tests starts Postgres: ${made.stderr.toString().trim()}`)
    return { env: { TMPDIR: folder }, remove: async () => remove() }
  }
  execFileSync('cp', ['-a', copied, served])
  const postgres = await startPostgres(served)
  return {
    env: {
      TMPDIR: folder,
      PARLEY_TEST_CLUSTER: path.join(copied, 'postgres'),
      PARLEY_TEST_POSTGRES: postgres.socketDir,
    },
    async remove() {
      await postgres.stop()
      remove()
    },
  }
}

/**
 * Starts Postgres in a child process. The child ends with its standard input, so it also ends if this process is
 * killed.
 */
async function startPostgres(folder) {
  const child = spawn(process.execPath, ['--import=tsx', 'test/store/run-postgres.ts', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const [socketDir] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(([code]) => Promise.reject(new Error(`the Postgres of the tests ended with ${code}`))),
  ])
  return {
    socketDir,
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}
