/** Starts a server with two organizations, and with one provider for both. */
import type { EngineName } from '../../runtime/engine/options.ts'
import { freshDataDir } from '../../test/installation.ts'
import { openAdministration } from '../../test/platform/setup.ts'
import { freePort } from '../../test/process/machine.ts'
import type { Target } from '../../test/router/requests.ts'
import { forkListener } from '../fork.ts'
import { startGateway } from '../gateway.ts'
import { made } from './made.ts'

/** The server's URL, its SIP port and its keys. An attack runs in another process, so all parts are JSON. */
export type World = {
  url: string
  honest: Target
  hostile: Target
  providerUrl: string
  sipPort: number
}

export type OpenWorld = World & { close(): Promise<void> }

/** The limits are small, so that one attacker on this machine can fill each resource. */
const limits = {
  limits: { requestsMax: 400, providerConnectionsMax: 64, connectionsPerAddressMax: 100_000 },
  realtime: { socketsMax: 400 },
  sessions: { max: 40 },
  uploadMemory: 67_108_864,
}

export async function openWorld(engine: EngineName, settings: object): Promise<OpenWorld> {
  const provider = await forkListener('isolation/provider.ts')
  const providerUrl = `http://127.0.0.1:${provider.port}`
  const dataDir = freshDataDir()
  const sipPort = await freePort()
  const parley = await startGateway(dataDir, {
    engine,
    ...limits,
    ...settings,
    providers: [
      { id: 'mock', adapter: 'openai', baseUrl: `${providerUrl}/v1`, apiKey: 'none', models: { llm: models } },
      { id: 'loopback', adapter: 'loopback' },
    ],
    outbound: { allowedSubnets: ['127.0.0.0/8'] },
    sip: { host: '127.0.0.1', port: sipPort },
  })
  const admin = await openAdministration(parley)
  const scopes = ['router', 'platform', 'realtime'] as const
  const [honest, hostile] = [
    await admin.organization('Honest', { scopes }),
    await admin.organization('Hostile', { scopes }),
  ]
  await admin.close()
  await made(honest, trunkPath, trunkAt(trunkAddress.honest))
  await made(hostile, trunkPath, trunkAt(trunkAddress.hostile))
  return {
    ...{ url: parley.url, honest, hostile, providerUrl, sipPort },
    async close() {
      await parley.remove()
      provider.child.disconnect()
    },
  }
}

/** Each organization's trunk sends from its own loopback address. */
export const trunkAddress = { honest: '127.0.0.2', hostile: '127.0.0.3' } as const
/** No trunk has this IP address. */
export const strangerAddress = '127.0.0.4'
const trunkPath = '/v1/phone-numbers/sip-connections'
const trunkAt = (address: string) => ({ name: 'Trunk', inbound: { allowedAddresses: [`${address}/32`] } })

const models = ['quick', 'endless', 'hanging', 'stopped', 'tooled']
