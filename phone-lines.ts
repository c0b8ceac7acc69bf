/** The lines of this process: the carrier of the configuration and the simulated one, with the events and the audio of their legs. */
import type { PhoneLines } from './domain/phone/ports.ts'
import type { CarrierWebhooks } from './domain/ports/carrier-webhooks.ts'
import type { LegDialogs } from './domain/ports/leg-dialogs.ts'
import type { LegEvents, LineName, PhoneLine } from './domain/ports/phone-line.ts'
import type { Provider } from './domain/ports/provider.ts'
import type { SipConnections } from './domain/ports/sip-connections.ts'
import type { Log } from './domain/ports/system.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { ExpectedLegs } from './handlers/carrier/expected-legs.ts'
import { createTelnyxLine } from './providers/telnyx/phone-line.ts'
import { createTelnyxWebhooks } from './providers/telnyx/webhooks.ts'
import { systemClock } from './runtime/clock.ts'
import { ConfigError } from './runtime/config.ts'
import { createSimulatedCarrier, type SimulatedCarrier, simulatorSeed } from './simulated-carrier.ts'
import { publicKeyOf } from './simulator/webhooks.ts'
import { createSipTrunks, sipUriOf } from './sip-trunks.ts'

export type LineParts = {
  config: ParleyConfig
  masterKey: string
  providers: readonly Provider[]
  connections: SipConnections
  dialogs: LegDialogs
  log: Log
  /** The name of this process. */
  ownerId: string
}

export type OpenLines = {
  lines: PhoneLines
  legs: ExpectedLegs
  readers: ReadonlyMap<LineName, CarrierWebhooks>
  simulator: SimulatedCarrier
  /** The address to which trunks send calls. Null: they may not. */
  sipUri: string | null
  /** That address. */
  localUrl: () => string
  /** The server is reached at this address by lines of this machine. */
  listening(url: string): void
  /** Calls over trunks come in from now on. Rejects with ConfigError. */
  serveTrunks(events: LegEvents): Promise<void>
  close(): Promise<void>
}

type Line = PhoneLine & { close(): Promise<void> }

export function openPhoneLines(parts: LineParts): OpenLines {
  const { config, masterKey, providers, connections, dialogs, log, ownerId } = parts
  const { adapter, sampleRate: rateHz, requestMs, telnyx } = config.carrier
  let local = ''
  const webhookUrl = (line: LineName) => addressesFor(line, config, local).webhooks
  const socketUrl = (line: LineName) => addressesFor(line, config, local).sockets
  const legs = new ExpectedLegs({ ownerId, addressFor: socketUrl, rateHz })
  const simulator = createSimulatedCarrier({ masterKey, providers, webhookUrl: () => webhookUrl('simulator') })
  const clock = systemClock
  const simulated = lazyLine('simulator', async () => {
    const { baseUrl, apiKey } = await simulator.open()
    const account = { baseUrl, apiKey, connectionId: 'simulator', webhookUrl: webhookUrl('simulator') }
    return createTelnyxLine({ name: 'simulator', ...account, requestMs, clock })
  })
  const simulatorKey = publicKeyOf(simulatorSeed(masterKey))
  const readers = new Map<LineName, CarrierWebhooks>([
    ['simulator', createTelnyxWebhooks({ publicKey: simulatorKey, clock })],
  ])
  const carrier = adapter === 'telnyx' ? openTelnyx() : null
  const trunks = createSipTrunks({ config, connections, dialogs, legs, log })
  const trunk = trunks?.line ?? null
  const named: Partial<Record<LineName, Line>> = {
    simulator: simulated,
    ...(carrier && { carrier }),
    ...(trunk && { trunk }),
  }

  function openTelnyx(): Line {
    const { apiKey, connectionId, publicKey, baseUrl } = telnyx
    if (apiKey === null || connectionId === null || publicKey === null)
      throw new ConfigError('carrier.telnyx: apiKey, connectionId and publicKey are required with the adapter telnyx')
    if (config.publicUrl === null) throw new ConfigError('publicUrl: is required with the adapter telnyx')
    readers.set('carrier', createTelnyxWebhooks({ publicKey, clock }))
    const account = { baseUrl, apiKey, connectionId, webhookUrl: webhookUrl('carrier') }
    return createTelnyxLine({ name: 'carrier', ...account, requestMs, clock })
  }

  return {
    lines: {
      of({ test, source }) {
        if (test) return simulated
        return source === 'sip_trunk' ? trunk : (carrier ?? simulated)
      },
      named: (line) => named[line] ?? null,
    },
    legs,
    readers,
    simulator,
    sipUri: sipUriOf(config),
    localUrl: () => local.replace(/\/+$/, ''),
    listening(url) {
      local = url
    },
    serveTrunks: async (events) => await trunks?.serve(events),
    async close() {
      await Promise.all([simulated.close(), carrier?.close(), trunk?.close()])
      await simulator.close()
    },
  }
}

/**
 * The addresses at which a line reaches this server. A socket must reach the machine that expects it, while every machine takes
 * events. `local` is the address for lines of this machine.
 */
export function addressesFor(
  line: LineName,
  { publicUrl, nodeUrl }: Pick<ParleyConfig, 'publicUrl' | 'nodeUrl'>,
  local: string,
): { webhooks: string; sockets: string } {
  const isHere = line === 'simulator'
  const [all, node] = isHere ? [local, local] : [publicUrl ?? nodeUrl ?? local, nodeUrl ?? publicUrl ?? local]
  return {
    webhooks: `${all.replace(/\/+$/, '')}/carrier/${line}/webhooks`,
    sockets: node.replace(/\/+$/, '').replace(/^http/, 'ws'),
  }
}

/** A line that opens with its first command. */
function lazyLine(name: LineName, open: () => Promise<Line>): Line {
  let opened: Promise<Line> | null = null
  const line = () => {
    opened ??= open()
    opened.catch(() => {
      opened = null
    })
    return opened
  }
  return {
    name,
    dial: async (leg, signal) => (await line()).dial(leg, signal),
    answer: async (leg, media) => (await line()).answer(leg, media),
    reject: async (leg, sipCode) => (await line()).reject(leg, sipCode),
    hangUp: async (leg) => (await line()).hangUp(leg),
    bridge: async (leg, other) => (await line()).bridge(leg, other),
    sendDtmf: async (leg, digits) => (await line()).sendDtmf(leg, digits),
    isAlive: async (leg) => (await line()).isAlive(leg),
    find: async (legId) => (await line()).find(legId),
    close: async () => void (await (await opened)?.close()),
  }
}
