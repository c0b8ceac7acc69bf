/** Starts the built program as a SIP server in real time. It has an agent, and a number on a trunk to this machine. */
import { type Trunk, trunkEnv, trunkOf } from '../trunk/trunk-server.ts'
import { type Phones, startPhones } from './built-phones.ts'
import { freePort } from './machine.ts'

export async function startBuiltTrunkServer(farPort: number): Promise<Phones & Trunk> {
  const sipPort = await freePort()
  const phones = await startPhones(trunkEnv(sipPort))
  return { ...phones, ...(await trunkOf(phones, sipPort, farPort)) }
}
