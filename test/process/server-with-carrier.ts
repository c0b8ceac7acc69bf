/** Starts a server that must withstand hostile senders. The test acts as its carrier. */
import t from 'tap'
import { settingsOf } from '../phone/outside-carrier.ts'
import { insertOnlyTenantsNumber } from '../phone/stored-number.ts'
import { masterKey } from '../rmsg/provider-events.ts'
import { call, loopbackAgent } from '../session/voice-session.ts'
import { startAttacked } from './attacked-server.ts'
import { openDatabase } from './database.ts'
import { freePort, until } from './machine.ts'
import { type DialledLeg, startOwnCarrier } from './own-carrier.ts'

/** A placed call, and its leg at the carrier. */
export type Placed = { id: string; leg: DialledLeg }

const from = '+14155550100'

/** Starts a server and the carrier that the test simulates. Both end with the tests in the file. */
export async function startWithCarrier() {
  const carrier = await startOwnCarrier()
  t.teardown(() => carrier.close())
  const port = await freePort()
  const { parley, hostile } = await startAttacked({
    ...settingsOf(carrier, port),
    PARLEY_MASTER_KEY: masterKey,
  })
  const sql = openDatabase(parley.dataDir)
  t.teardown(() => sql.end())
  await insertOnlyTenantsNumber(sql, { e164: from, direction: 'both' })
  const placed = async (): Promise<Placed> => {
    const before = carrier.legs.length
    const { status, json } = await call(parley, '/v1/sessions/phone', { to: '+14155550123', from, ...loopbackAgent })
    if (status !== 200) throw new Error(`a call was answered ${status}: ${JSON.stringify(json)}`)
    await until('the leg is dialled', () => carrier.legs.length > before)
    const leg = carrier.legs.at(-1)
    if (leg === undefined) throw new Error('no leg')
    return { id: String(json['sessionId']), leg }
  }
  return { carrier, parley, hostile, sql, port, placed }
}
