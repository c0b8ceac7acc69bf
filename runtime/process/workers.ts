import { type ChildProcess, fork } from 'node:child_process'
import type { Environment } from './config.ts'

/** A worker's number. Absent in the first process, which starts the workers. */
export const workerVariable = 'PARLEY_WORKER'

/** If a worker dies or cannot be started, it is restarted after this time, to avoid a tight loop. */
const restartMs = 1000
/** A draining worker that exceeds its grace period by more than this is killed. */
const stopExtraMs = 5000

/**
 * A message from the parent to a worker. Signals are not usable: a terminal and a service manager signal the whole
 * group, so the worker would treat the parent's signal as a second one and end at once.
 */
type Order = { kind: 'drain'; lbDelayMs: number } | { kind: 'force' }

export type Workers = {
  /** Makes each worker drain. */
  stop(lbDelayMs: number): Promise<void>
  /** Makes each worker end its requests in flight. */
  force(): void
}

export type WorkerOptions = {
  env: Environment
  graceMs: number
  /** Passes the listening port to a worker. */
  share: (child: ChildProcess) => void
  /** Called if a worker fails, for example because the system cannot start more processes. */
  failed: (error: unknown) => void
}

/** Starts `count` more processes with this program. */
export function startWorkers(count: number, { env, graceMs, share, failed }: WorkerOptions): Workers {
  const live = new Map<number, ChildProcess>()
  const restarts = new Set<NodeJS.Timeout>()
  let stopping = false
  const restart = (index: number, child: ChildProcess) => {
    if (live.get(index) !== child) return
    live.delete(index)
    if (stopping) return
    // Uses the machine's clock, like this whole file, because it waits for processes.
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
    // If a child was not started, 'exit' may not follow the error. A started child continues after an error.
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
 * Ends a worker when its parent decides so: calls `drain` or `force` on the parent's order, and `drain` if the parent
 * has died. A worker ignores signals, because the parent decides for all.
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

/** Sends an order. If the worker has just died or was not started, sending fails, and the failure is ignored. */
function order(child: ChildProcess, message: Order): void {
  if (child.connected) child.send(message, () => {})
}
