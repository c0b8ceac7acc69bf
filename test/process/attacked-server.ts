/**
 * A running Parley under attack by hostile clients: it answers others all the while, its memory stays bounded, and no
 * error occurs inside.
 */
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { until } from './machine.ts'
import { type Running, startParley } from './parley.ts'

/** Others are answered within this time, also on a busy machine. */
const answerMsMax = 3000
/** Twice the growth on a calm machine. Most of it is code that is compiled at its first use. */
const grownMibMax = 100

export type AttackedServer = {
  parley: Running
  /** Runs one attack. Afterwards the server must be as before. */
  hostile: (title: string, run: (t: Test) => Promise<void>) => void
}

/** Ends with the tests of the file. */
export async function startAttacked(env: Record<string, string>): Promise<AttackedServer> {
  const parley = await startParley({
    NODE_OPTIONS: `--import ${new URL('collect-on-signal.mjs', import.meta.url).href}`,
    ...env,
  })
  const pulse = startPulse(parley.url)
  t.teardown(async () => {
    await pulse.stop()
    await parley.remove()
  })
  const startMib = await heldMib(parley)
  return {
    parley,
    hostile(title, run) {
      void t.test(title, async (t) => {
        pulse.take()
        await run(t)
        const worstMs = pulse.take()
        t.ok(worstMs < answerMsMax, `another request took ${Math.round(worstMs)} ms`)
        const grownMib = (await heldMib(parley)) - startMib
        t.ok(grownMib < grownMibMax, `${Math.round(grownMib)} MiB more than at the start`)
        t.notMatch(parley.output(), /"level":50/, 'no internal error')
      })
    },
  }
}

/**
 * Resident memory without garbage. The engine chooses how much garbage a process keeps, so that differs from run to
 * run.
 */
async function heldMib(parley: Running): Promise<number> {
  const collections = () => parley.output().split('garbage is collected').length
  const before = collections()
  process.kill(parley.pid, 'SIGUSR2')
  await until('garbage is collected', () => collections() > before)
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${parley.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}

/**
 * Sends small requests all the time, and keeps the longest time to an answer. It has a thread, because the attacks keep
 * the test's thread busy.
 */
function startPulse(url: string) {
  let worstMs = 0
  const worker = new Worker(new URL('pulse.mjs', import.meta.url), { workerData: url })
  worker.on('message', (answeredMs: number) => {
    worstMs = Math.max(worstMs, answeredMs)
  })
  return {
    take(): number {
      const worst = worstMs
      worstMs = 0
      return worst
    },
    stop: () => worker.terminate(),
  }
}
