/**
 * Phone calls over a simulated carrier on the same machine, with stub engines for speech and LLM, and real voice
 * activity detection.
 */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../test/process/database.ts'
import { freePort } from '../test/process/machine.ts'
import { startParley } from '../test/process/parley.ts'
import { addNumber, carrierEnv, openAccount, placeCalls, sendOrder } from './carrier-child.ts'
import type { Figure } from './figure.ts'
import { forkListener } from './fork.ts'
import { cpuMs } from './process-figures.ts'
import { percentile, stubEngines } from './stub-engines.ts'

const callsCount = 100
const durationMs = 60_000

export async function phoneFigures(): Promise<Figure[]> {
  const engines = await stubEngines()
  const carrier = (await forkListener('phone-carrier.ts')).child
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  try {
    const account = await openAccount(carrier, publicUrl)
    const parley = await startParley({
      ...engines.env,
      ...carrierEnv(account, { publicUrl, port, carrierPort: account.port }),
    })
    try {
      const sql = openDatabase(parley.dataDir)
      await addNumber(sql)
      await sql.end()
      return await measure(parley.pid, carrier)
    } finally {
      await parley.remove()
    }
  } finally {
    carrier.disconnect()
    engines.close()
  }
}

async function measure(pid: number, carrier: ChildProcess): Promise<Figure[]> {
  await placeCalls(carrier, callsCount)
  const beforeMs = cpuMs(pid)
  const carrierBeforeMs = cpuMs(carrier.pid as number)
  await sleep(durationMs)
  const cpu = { server: cpuMs(pid) - beforeMs, carrier: cpuMs(carrier.pid as number) - carrierBeforeMs }
  const report = await sendOrder(carrier, { report: true })
  if (!('lateMs' in report)) throw new Error('the carrier has not said what it received')
  if (report.calls < callsCount) throw new Error(`${callsCount - report.calls} of ${callsCount} calls have ended`)
  const { lateMs, utterances } = report
  const share = (ms: number) => `${((ms / durationMs) * 100).toFixed(0)} %`
  return [
    {
      name: `${callsCount} phone calls: lateness of a frame at the far end, p99`,
      value: percentile(lateMs, 0.99),
      unit: 'ms',
      bar: 60,
      detail: `${lateMs.length} frames of ${utterances} utterances, median ${percentile(lateMs, 0.5).toFixed(1)} ms, longest ${percentile(lateMs, 1).toFixed(0)} ms; ${share(cpu.server)} of a core in the server, ${share(cpu.carrier)} in the simulated carrier`,
    },
  ]
}
