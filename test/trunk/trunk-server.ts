/** Starts a Parley with SIP calls, an agent, and a trunk number on this machine. */

import { type Phones, startPhones } from '../phone/phones.ts'
import { call } from '../platform/setup.ts'
import { freePort } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'

export type Trunk = { sipPort: number; connectionId: string; trunkNumber: string }
export type TrunkServer = Phones & Trunk

export const trunkNumber = '+15005550140'

export const trunkEnv = (sipPort: number) => ({
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
  PARLEY_SIP_HOST: '127.0.0.1',
  PARLEY_SIP_PORT: String(sipPort),
})

/** Starts the server in this process on a test clock. `farPort` is the local port for outbound calls. */
export async function startTrunkServer(farPort: number, env: Record<string, string> = {}): Promise<TrunkServer> {
  const sipPort = await freePort()
  const phones = await startPhones({ ...trunkEnv(sipPort), ...env })
  return { ...phones, ...(await trunkOf(phones, sipPort, farPort)) }
}

/** Makes a trunk number on this machine for the agent. */
export async function trunkOf(phones: Target & { agentId: string }, sipPort: number, farPort: number): Promise<Trunk> {
  const made = async (path: string, body: object) => {
    const answer = await call(phones, 'POST', `/v1/phone-numbers/${path}`, body)
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.json<{ id: string }>().id
  }
  const connectionId = await made('sip-connections', {
    name: 'Trunk',
    outbound: { host: '127.0.0.1', port: farPort },
    inbound: { allowedAddresses: ['127.0.0.0/16'] },
  })
  const { agentId } = phones
  await made('import', { e164: trunkNumber, sipConnectionInstallationId: connectionId, agentId })
  return { sipPort, connectionId, trunkNumber }
}

export type ImportedNumber = { id: string; setupStatus: { status: string; inboundReady: boolean; issues: string[] } }

/** Makes an agent, and imports a number for inbound calls over a connection that accepts calls from this range. */
export async function importInbound(target: Target, range: string, e164: string): Promise<ImportedNumber> {
  const made = async <Made>(path: string, body: object) => {
    const answer = await call(target, 'POST', path, body)
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.json<Made>()
  }
  const agent = { name: `Desk ${e164}`, systemPrompt: 'You are a desk.', intent: { language: 'en' } }
  const { id: agentId } = await made<{ id: string }>('/v1/agents', agent)
  const connection = { name: `Trunk ${e164}`, inbound: { allowedAddresses: [range] } }
  const { id: sipConnectionInstallationId } = await made<{ id: string }>(
    '/v1/phone-numbers/sip-connections',
    connection,
  )
  const number = { e164, agentId, sipConnectionInstallationId, direction: 'inbound' }
  return await made<ImportedNumber>('/v1/phone-numbers/import', number)
}
