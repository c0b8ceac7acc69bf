/**
 * One Postgres for a whole test run. Each server and each store under test gets a database in it. `npx tsx
 * test/store/run-postgres.ts FOLDER` starts it over the cluster in FOLDER, prints its socket's folder, and ends it when
 * its standard input ends. The runner passes the socket's folder on in PARLEY_TEST_POSTGRES.
 *
 * No data must survive a crash of the machine, so commits need not wait for the disk.
 */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { openCluster } from '../../store/embedded/cluster.ts'
import { makeSocketDir, readLockFile } from '../../store/embedded/postmaster.ts'

export type RunPostgres = { socketDir: string; stop: () => Promise<void> }

/** At most eight suites run at once, each with several servers and stores, and use about 40 connections. */
const connectionsMax = 400
const readyMs = 60_000

/** Makes the cluster if the folder has no cluster. */
export async function startRunPostgres(folder: string): Promise<RunPostgres> {
  const cluster = await openCluster(folder, () => {})
  const socketDir = makeSocketDir(cluster.directory, cluster.account)
  const settings = {
    listen_addresses: '',
    unix_socket_directories: socketDir,
    max_connections: String(connectionsMax),
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    log_min_messages: 'fatal',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const { account, postgres, directory: cwd, env } = cluster
  const [command = '', ...args] = [...account.wrapper, postgres, '-D', cwd, ...options]
  const child = spawn(command, args, { ...account.drop, env, cwd, stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const isReady = () => readLockFile(cwd)?.status === 'ready'
  for (const endMs = Date.now() + readyMs; !isReady(); await sleep(10))
    if (child.exitCode !== null || Date.now() > endMs) throw new Error(`Postgres does not start: ${child.exitCode}`)
  return {
    socketDir,
    async stop() {
      child.kill('SIGINT')
      await ended
    },
  }
}

if (process.argv[1] === import.meta.filename) {
  const { socketDir, stop } = await startRunPostgres(process.argv[2] ?? '')
  console.log(socketDir)
  process.stdin.resume()
  process.stdin.once('end', () => void stop())
}
