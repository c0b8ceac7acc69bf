/**
 * Keeps one Postgres running on a data folder, on a Unix socket only. Several processes may use the same folder. If a
 * process finds a running server, at a second start or after a crash, it uses this server and does not start another.
 * Each process starts the server again if it dies.
 */
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { type Cluster, openCluster } from './cluster.ts'
import {
  checkSocketDir,
  isAlive,
  isAnswering,
  isSomebodyElse,
  makeSocketDir,
  type Postmaster,
  readLockFile,
  socketDirOf,
} from './postmaster.ts'

export type EmbeddedOptions = { dataDir: string; progress: (message: string) => void; log: Log; clock: Clock }

export type EmbeddedPostgres = {
  socketDir: string
  adopted: boolean
  pid(): number
  /**
   * Stops the server fast, even if another process has started it. Open transactions are rolled back; committed
   * transactions are on disk.
   */
  stop(): Promise<void>
  /** Stops watching and leaves the server running. */
  leave(): void
}

/**
 * A lock file may block the start for this long. If a killed server is not yet reaped by its parent, Postgres still
 * considers the server alive.
 */
const lockWaitMs = 15_000
/** A server may recover for this long. After a crash it replays at most `max_wal_size` (1 GB). */
const readyWaitMs = 120_000
const watchMs = 500
const fastStopMs = 5_000
const immediateStopMs = 2_000
const logBytesMax = 1 << 20

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { clock, log } = options
  const cluster = await openCluster(options.dataDir, options.progress)
  let server = await bringUp(cluster, options)
  const { adopted, socketDir } = server
  let ended = false
  let restarting = Promise.resolve()
  let cancelWatch = watch()

  function watch(): () => void {
    return clock.after(watchMs, () => {
      if (isAlive(server.pid)) cancelWatch = watch()
      else restarting = restart()
    })
  }

  async function restart(): Promise<void> {
    log.error({ pid: server.pid }, 'Postgres died: starting it again')
    try {
      server = await bringUp(cluster, { clock, progress: (message) => log.info({}, message) })
    } catch (err) {
      log.error({ err }, 'Postgres does not start, it is tried again')
    }
    if (!ended) cancelWatch = watch()
  }

  function leave(): void {
    ended = true
    cancelWatch()
  }

  async function stop(): Promise<void> {
    leave()
    await restarting
    await stopServer(cluster, server, clock, log)
  }

  return { socketDir, adopted, pid: () => server.pid, stop, leave }
}

type Server = { pid: number; socketDir: string; adopted: boolean }
type Context = { clock: Clock; progress: (message: string) => void }

async function bringUp(cluster: Cluster, { clock, progress }: Context): Promise<Server> {
  const startedMs = clock.monotonicMs()
  for (;;) {
    const lock = readLockFile(cluster.directory)
    if (lock && isAlive(lock.pid) && !isSomebodyElse(lock.pid)) {
      if (isReady(lock) && (await isAnswering(lock))) return adopt(lock, cluster, progress)
    } else {
      if (lock && isSomebodyElse(lock.pid)) rmSync(join(cluster.directory, 'postmaster.pid'), { force: true })
      const server = await launch(cluster, { clock, progress })
      if (server) return server
    }
    const waitMs = lock?.status === 'starting' ? readyWaitMs : lockWaitMs
    if (clock.monotonicMs() - startedMs > waitMs) throw inUseError(cluster)
    await sleep(clock, 100)
  }
}

const isReady = ({ status, socketDir }: Postmaster) =>
  status === 'ready' && existsSync(join(socketDir, '.s.PGSQL.5432'))

function adopt({ pid, socketDir }: Postmaster, { account }: Cluster, progress: (message: string) => void): Server {
  checkSocketDir(socketDir, account)
  progress(`using the Postgres that is already running (pid ${pid})`)
  return { pid, socketDir, adopted: true }
}

/**
 * Starts a server. Returns null if another server has the lock file or the shared memory. The calling code should then
 * check again.
 */
async function launch(cluster: Cluster, { clock, progress }: Context): Promise<Server | null> {
  const socketDir = makeSocketDir(cluster.directory, cluster.account)
  const logStart = existsSync(cluster.logFile) ? statSync(cluster.logFile).size : 0
  const child = spawnServer(cluster, socketDir, logStart)
  const startedMs = clock.monotonicMs()
  let isReported = false
  while (child.exit === null) {
    const lock = readLockFile(cluster.directory)
    if (lock?.pid === child.pid && isReady(lock)) return { pid: lock.pid, socketDir, adopted: false }
    const waitedMs = clock.monotonicMs() - startedMs
    if (waitedMs > readyWaitMs) {
      kill(child.pid, 'SIGINT')
      throw new Error(`Postgres is not ready after ${readyWaitMs / 1000} s; ${cluster.logFile} may say why.`)
    }
    if (waitedMs > 1_000 && !isReported) {
      progress('waiting for Postgres to recover')
      isReported = true
    }
    await sleep(clock, 5)
  }
  const reason = lastLog(cluster.logFile, logStart)
  if (/lock file .* already exists|pre-existing shared memory block/.test(reason)) return null
  throw new Error(`Postgres does not start; ${cluster.logFile} says why.`, { cause: new Error(reason || child.exit) })
}

function spawnServer(cluster: Cluster, socketDir: string, logBytes: number): { pid: number; exit: string | null } {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: socketDir,
    unix_socket_permissions: '0700',
    max_connections: '100',
    // In this setting LOG ranks between ERROR and FATAL, so `error` would still print every LOG line.
    log_min_messages: 'fatal',
    cluster_name: 'parley',
  }
  const args = [
    '-D',
    cluster.directory,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
  const [command, ...rest] = [...cluster.account.wrapper, cluster.postgres, ...args]
  // The output goes to a file and not to a pipe, because the server lives on if this process is killed with -9, and
  // would still hold the pipe.
  const logFile = openSync(cluster.logFile, logBytes > logBytesMax ? 'w' : 'a', 0o600)
  // The server is detached, because Ctrl-C in a terminal goes to the whole process group. It would stop Postgres before
  // we have finished our requests.
  const child = spawn(command as string, rest, {
    ...cluster.account.drop,
    env: cluster.env,
    cwd: cluster.directory,
    stdio: ['ignore', 'ignore', logFile],
    detached: true,
  })
  closeSync(logFile)
  child.unref()
  const server = { pid: child.pid ?? -1, exit: null as string | null }
  child.once('error', (error) => {
    server.exit = error.message
  })
  child.once('exit', (code, signal) => {
    server.exit = `exit ${code ?? signal}`
  })
  return server
}

async function stopServer(cluster: Cluster, { pid, socketDir }: Server, clock: Clock, log: Log): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGINT', fastStopMs],
    ['SIGQUIT', immediateStopMs],
  ] as const) {
    if (!isAlive(pid)) break
    if (signal === 'SIGQUIT') log.warn({ pid }, 'Postgres did not stop in time: the next start recovers')
    kill(pid, signal)
    const startedMs = clock.monotonicMs()
    while (isAlive(pid) && clock.monotonicMs() - startedMs < waitMs) await sleep(clock, 5)
  }
  if (isAlive(pid)) log.error({ pid, folder: cluster.directory }, 'Postgres does not stop')
  try {
    rmdirSync(socketDir)
  } catch {
    // Either the folder is gone already, or a server that started meanwhile has its socket there.
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has just ended.
  }
}

function inUseError(cluster: Cluster): Error {
  // If the data folder of a running server was deleted, only its socket still identifies it.
  const lock = readLockFile(cluster.directory) ?? readLockFile(socketDirOf(cluster.directory), '.s.PGSQL.5432.lock')
  const pid = lock?.pid
  return new Error(
    `Another Postgres (pid ${pid}) holds ${cluster.directory} and cannot be reached: stop it with "kill -INT ${pid}" and start again.`,
  )
}

function lastLog(file: string, start: number): string {
  const text = readFileSync(file)
  return text
    .subarray(text.length >= start ? start : 0)
    .toString('utf8')
    .slice(-2_000)
    .trim()
}

function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve)
  })
}
