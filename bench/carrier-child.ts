/**
 * The simulated carrier for phone-call benches, in a separate process, and the number that its simulated people call.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { insertNumber } from '../test/phone/stored-number.ts'
import type { CarrierAnswer, CarrierOrder } from './phone-carrier.ts'
import { stubsAlone } from './stub-engines.ts'

const number = '+12025550100'
/** Calls begin one after the other, as in real traffic. */
const betweenCallsMs = 37

type Account = Extract<CarrierAnswer, { apiKey: string }>

/** Sets up the account at the carrier and returns it. The carrier then sends its events to `publicUrl`. */
export async function openAccount(carrier: ChildProcess, publicUrl: string): Promise<Account> {
  const account = await sendOrder(carrier, { webhookUrl: `${publicUrl}/carrier/carrier/webhooks` })
  if (!('apiKey' in account)) throw new Error('the carrier has not started')
  return account
}

/**
 * Returns the settings for a server at this port with this account. `carrierPort` is the carrier's port, or the port of
 * a relay before it.
 */
export function carrierEnv(
  { apiKey, publicKey }: Account,
  { publicUrl, port, carrierPort }: { publicUrl: string; port: number; carrierPort: number },
): Record<string, string> {
  return {
    PARLEY_PORT: String(port),
    PARLEY_PUBLIC_URL: publicUrl,
    PARLEY_CARRIER_ADAPTER: 'telnyx',
    PARLEY_CARRIER_TELNYX_BASE_URL: `http://127.0.0.1:${carrierPort}/v2`,
    PARLEY_CARRIER_TELNYX_API_KEY: apiKey,
    PARLEY_CARRIER_TELNYX_CONNECTION_ID: 'bench',
    PARLEY_CARRIER_TELNYX_PUBLIC_KEY: publicKey,
  }
}

/** Adds a number whose calls the stub engines for speech and LLM answer. */
export async function addNumber(sql: Sql): Promise<void> {
  const template = { intent: { language: 'en' }, systemPrompt: 'Answer.', constraints: stubsAlone }
  const [organization] = await sql<{ id: string }[]>`select id from organizations where name = 'local'`
  const organizationId = organization?.id ?? ''
  await insertNumber(sql, { organizationId, test: false }, { e164: number, direction: 'both', template })
}

/** Calls the number `count` times. */
export async function placeCalls(carrier: ChildProcess, count: number): Promise<void> {
  for (let made = 0; made < count; made++) {
    carrier.send({ from: `+1202555${String(1000 + made)}`, callTo: number } satisfies CarrierOrder)
    await sleep(betweenCallsMs)
  }
}

export async function sendOrder(carrier: ChildProcess, order: CarrierOrder): Promise<CarrierAnswer> {
  carrier.send(order)
  const [answer] = (await once(carrier, 'message')) as [CarrierAnswer]
  return answer
}
