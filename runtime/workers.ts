import { type ChildProcess, fork } from 'node:child_process'
import type { Environment } from './config.ts'

/** The number of a process among several. Absent in the first one, which starts the others. */
export const workerVariable = 'PARLEY_WORKER'

/** A worker that dies is started again, but not in a tight loop. */
const restartMs = 1000
/** A worker that drains may take this much longer than its grace period. */
const stopExtraMs = 5000

export type Workers = {
  /** Each worker drains by itself. */
  stop(): Promise<void>
  /** A second signal makes each worker give up its requests in flight. */
  force(): void
}

/** Starts `count` more processes of this program on the same port (SO_REUSEPORT: the kernel distributes connections). */
export function startWorkers(count: number, env: Environment, graceMs: number): Workers {
  const live = new Map<number, ChildProcess>()
  const restarts = new Set<NodeJS.Timeout>()
  let stopping = false
  const start = (index: number) => {
    const child = fork(process.argv[1] as string, process.argv.slice(2), {
      env: { ...env, [workerVariable]: String(index) },
      execArgv: process.execArgv,
    })
    live.set(index, child)
    child.once('exit', () => {
      live.delete(index)
      if (stopping) return
      const timer = setTimeout(() => {
        restarts.delete(timer)
        start(index)
      }, restartMs)
      restarts.add(timer)
    })
  }
  for (let index = 1; index <= count; index++) start(index)
  return {
    async stop() {
      stopping = true
      for (const timer of restarts) clearTimeout(timer)
      await Promise.all([...live.values()].map((child) => stopChild(child, graceMs + stopExtraMs)))
    },
    force() {
      for (const child of live.values()) child.kill('SIGTERM')
    },
  }
}

function stopChild(child: ChildProcess, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), waitMs)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    child.kill('SIGTERM')
  })
}
