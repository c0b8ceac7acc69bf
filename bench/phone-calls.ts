/** Calls by phone over a simulated carrier on the same machine, with stub engines and real voice activity detection. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { insertNumber } from '../test/phone/stored-number.ts'
import { openDatabase } from '../test/process/database.ts'
import { freePort } from '../test/process/machine.ts'
import { startParley } from '../test/process/parley.ts'
import type { Figure } from './figure.ts'
import { forkListener } from './fork.ts'
import type { CarrierAnswer, CarrierOrder } from './phone-carrier.ts'
import { cpuMs } from './process-figures.ts'
import { percentile, stubEngines, stubsAlone } from './stub-engines.ts'

const callsCount = 100
const durationMs = 60_000
const number = '+12025550100'

export async function phoneFigures(): Promise<Figure[]> {
  const engines = await stubEngines()
  const carrier = (await forkListener('phone-carrier.ts')).child
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  try {
    const account = await asked(carrier, { webhookUrl: `${publicUrl}/carrier/carrier/webhooks` })
    if (!('apiKey' in account)) throw new Error('the carrier has not started')
    const parley = await startParley({
      ...engines.env,
      PARLEY_PORT: String(port),
      PARLEY_PUBLIC_URL: publicUrl,
      PARLEY_CARRIER_ADAPTER: 'telnyx',
      PARLEY_CARRIER_TELNYX_BASE_URL: `http://127.0.0.1:${account.port}/v2`,
      PARLEY_CARRIER_TELNYX_API_KEY: account.apiKey,
      PARLEY_CARRIER_TELNYX_CONNECTION_ID: 'bench',
      PARLEY_CARRIER_TELNYX_PUBLIC_KEY: account.publicKey,
    })
    try {
      await addNumber(parley.dataDir)
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
  for (let count = 0; count < callsCount; count++) {
    carrier.send({ from: `+1202555${String(1000 + count)}`, callTo: number } satisfies CarrierOrder)
    await sleep(37)
  }
  const beforeMs = cpuMs(pid)
  const carrierBeforeMs = cpuMs(carrier.pid as number)
  await sleep(durationMs)
  const cpu = { server: cpuMs(pid) - beforeMs, carrier: cpuMs(carrier.pid as number) - carrierBeforeMs }
  const report = await asked(carrier, { report: true })
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

/** A number whose calls are answered with the stub engines. */
async function addNumber(dataDir: string): Promise<void> {
  const template = { intent: { language: 'en' }, systemPrompt: 'Answer.', constraints: stubsAlone }
  const sql = openDatabase(dataDir)
  const [organization] = await sql<{ id: string }[]>`select id from organizations where name = 'local'`
  const organizationId = organization?.id ?? ''
  await insertNumber(sql, { organizationId, test: false }, { e164: number, direction: 'both', template })
  await sql.end()
}

async function asked(carrier: ChildProcess, order: CarrierOrder): Promise<CarrierAnswer> {
  carrier.send(order)
  const [answer] = (await once(carrier, 'message')) as [CarrierAnswer]
  return answer
}
