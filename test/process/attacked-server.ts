/**
 * Starts a Parley for attacks by hostile clients. It must answer others all the while, its memory must stay bounded,
 * and no internal error may occur.
 */
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { collectsOnSignal, heldMiB } from './held-memory.ts'
import { type Running, startParley } from './parley.ts'

/** Other clients must be answered within this time, also on a busy machine. */
const answerMsMax = 3000
/**
 * The limit for memory growth: twice the growth on a calm machine. Most growth is code that is compiled at its first
 * use.
 */
const grownMibMax = 100

export type AttackedServer = {
  parley: Running
  /** Defines a test with one attack. Afterwards the server must be as before. */
  hostile: (title: string, run: (t: Test) => Promise<void>) => void
}

/** Starts the server. It ends with the tests in the file. */
export async function startAttacked(env: Record<string, string>): Promise<AttackedServer> {
  const parley = await startParley({
    ...collectsOnSignal,
    ...env,
  })
  const pulse = startPulse(parley.url)
  t.teardown(async () => {
    await pulse.stop()
    await parley.remove()
  })
  const startMib = await heldMiB(parley)
  return {
    parley,
    hostile(title, run) {
      void t.test(title, async (t) => {
        pulse.take()
        await run(t)
        const worstMs = pulse.take()
        t.ok(worstMs < answerMsMax, `another request took ${Math.round(worstMs)} ms`)
        const grownMib = (await heldMiB(parley)) - startMib
        t.ok(grownMib < grownMibMax, `${Math.round(grownMib)} MiB more than at the start`)
        t.notMatch(parley.output(), /"level":50/, 'no internal error')
      })
    },
  }
}

/**
 * Sends small requests all the time, and records the longest time to an answer. It runs in a separate thread, because
 * the attacks keep the test's thread busy.
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
