/**
 * Starts a Parley for attacks by hostile clients. During the attacks the server must answer other clients, its memory
 * must stay bounded, and no internal error may occur.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { collectsOnSignal, heldMiB } from './held-memory.ts'
import { type Running, startParley } from './parley.ts'

/** Other clients must be answered within this time, as long as the idle server answers within `idleAnswerMsMax`. */
const answerMsMax = 3000
/**
 * If an idle server takes longer, the machine is busy with other work. Other clients of the attacked server may then
 * take longer in the same proportion.
 */
const idleAnswerMsMax = 100
/**
 * The limit for memory growth: twice the growth on an idle machine. Most growth is code that is compiled at its first
 * use.
 */
const grownMibMax = 100

export type AttackedServer = {
  parley: Running
  /** Defines a test with one attack. Afterwards the server must work as before the attack. */
  hostile: (title: string, run: (t: Test) => Promise<void>) => void
}

/** Starts the server. It ends with the tests in the file. */
export async function startAttacked(env: Record<string, string>): Promise<AttackedServer> {
  const parley = await startParley({
    ...collectsOnSignal,
    ...env,
  })
  const pulse = await startPulse(parley.url)
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
        const { attackedMs, idleMs } = pulse.take()
        const allowedMs = answerMsMax * Math.max(1, idleMs / idleAnswerMsMax)
        t.ok(
          attackedMs < allowedMs,
          `another request took ${Math.round(attackedMs)} ms, with an idle server ${Math.round(idleMs)} ms`,
        )
        const grownMib = (await heldMiB(parley)) - startMib
        t.ok(grownMib < grownMibMax, `${Math.round(grownMib)} MiB more than at the start`)
        t.notMatch(parley.output(), /"level":50/, 'no internal error')
      })
    },
  }
}

type Worst = { attackedMs: number; idleMs: number }

/**
 * Sends small requests to this server and to an idle server all the time, and records the longest times to an answer.
 * It runs in a separate thread, because the attacks keep the test's thread busy.
 */
async function startPulse(url: string) {
  const none: Worst = { attackedMs: 0, idleMs: 0 }
  let worst = none
  const idle = fork(new URL('idle-server.mjs', import.meta.url), { execArgv: [] })
  const [idleUrl] = (await once(idle, 'message')) as [string]
  const worker = new Worker(new URL('pulse.mjs', import.meta.url), {
    workerData: { attackedMs: `${url}/healthz`, idleMs: idleUrl },
  })
  worker.on('message', ({ name, answeredMs }: { name: keyof Worst; answeredMs: number }) => {
    worst = { ...worst, [name]: Math.max(worst[name], answeredMs) }
  })
  return {
    take(): Worst {
      const taken = worst
      worst = none
      return taken
    },
    async stop() {
      await worker.terminate()
      idle.disconnect()
    },
  }
}
