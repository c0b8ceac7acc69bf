import { type ChildProcess, fork } from 'node:child_process'
import type { Environment } from './config.ts'

/** The number of a process among several. Absent in the first one, which starts the others. */
export const workerVariable = 'PARLEY_WORKER'

/** A worker that dies, or cannot be started, is started again, but not in a tight loop. */
const restartMs = 1000
/** A worker that drains may take this much longer than its grace period. */
const stopExtraMs = 5000

/**
 * A message of the parent to a worker. Signals will not do: a terminal and a service manager signal the whole group, so
 * the worker would take the parent's signal for a second one and end at once.
 */
type Order = { kind: 'drain'; lbDelayMs: number } | { kind: 'force' }

export type Workers = {
  /** Each worker drains by itself. */
  stop(lbDelayMs: number): Promise<void>
  /** Each worker gives up its requests in flight. */
  force(): void
}

export type WorkerOptions = {
  env: Environment
  graceMs: number
  /** Gives a worker the port. */
  share: (child: ChildProcess) => void
  /** The system has no process left, for instance. */
  failed: (error: unknown) => void
}

/** Starts `count` more processes of this program. */
export function startWorkers(count: number, { env, graceMs, share, failed }: WorkerOptions): Workers {
  const live = new Map<number, ChildProcess>()
  const restarts = new Set<NodeJS.Timeout>()
  let stopping = false
  const restart = (index: number, child: ChildProcess) => {
    if (live.get(index) !== child) return
    live.delete(index)
    if (stopping) return
    // By the machine's clock, as all of this file: it waits for processes.
    const timer = setTimeout(() => {
      restarts.delete(timer)
      start(index)
    }, restartMs)
    restarts.add(timer)
  }
  const start = (index: number) => {
    const child = fork(process.argv[1] as string, process.argv.slice(2), {
      env: { ...env, [workerVariable]: String(index) },
      execArgv: process.execArgv,
    })
    live.set(index, child)
    share(child)
    child.once('exit', () => restart(index, child))
    // After the error of one that was not started 'exit' may not follow. One that was started goes on after an error.
    child.on('error', (error) => {
      failed(error)
      if (child.pid === undefined) restart(index, child)
    })
  }
  for (let index = 1; index <= count; index++) start(index)
  return {
    async stop(lbDelayMs) {
      stopping = true
      for (const timer of restarts) clearTimeout(timer)
      await Promise.all([...live.values()].map((child) => stopChild(child, lbDelayMs, graceMs)))
    },
    force() {
      for (const child of live.values()) order(child, { kind: 'force' })
    },
  }
}

/**
 * In a worker: calls `drain` or `force` when the parent orders it, and `drain` when the parent has died. A worker
 * ignores signals, because the parent decides for all.
 */
export function followParent(drain: (lbDelayMs: number) => void, force: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  if (!process.connected) return drain(0)
  process.once('disconnect', () => drain(0))
  process.on('message', (message: Partial<Order>) => {
    if (message.kind === 'drain') drain(message.lbDelayMs ?? 0)
    else if (message.kind === 'force') force()
  })
}

function stopChild(child: ChildProcess, lbDelayMs: number, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), lbDelayMs + graceMs + stopExtraMs)
    const gone = () => {
      clearTimeout(timer)
      resolve()
    }
    child.once('exit', gone)
    if (child.pid === undefined) return gone()
    order(child, { kind: 'drain', lbDelayMs })
  })
}

/** A worker that has just died, or was not started, cannot be reached, which is no failure. */
function order(child: ChildProcess, message: Order): void {
  if (child.connected) child.send(message, () => {})
}
