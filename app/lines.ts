/**
 * This process's phone lines: the configured carrier, the simulated carrier and SIP trunks, with events and audio for
 * their legs.
 */
import type { CarrierWebhooks } from '../domain/ports/carrier-webhooks.ts'
import type { LineName, PhoneLine } from '../domain/ports/phone-line.ts'
import type { PhoneLines } from '../domain/records/callable-number.ts'
import { ExpectedLegs } from '../handlers/carrier/expected-legs.ts'
import { createTelnyxLine } from '../providers/telnyx/phone-line.ts'
import { createTelnyxWebhooks } from '../providers/telnyx/webhooks.ts'
import { ConfigError } from '../runtime/process/config.ts'
import { publicKeyOf } from '../simulator/webhooks.ts'
import { addressesFor } from './addresses.ts'
import type { App } from './app.ts'
import { lazily } from './lazily.ts'
import { type SimulatedCarrier, simulatorSeed } from './simulator.ts'
import { createSipTrunks, type SipTrunks } from './trunks.ts'

export type Lines = {
  lines: PhoneLines
  legs: ExpectedLegs
  readers: ReadonlyMap<LineName, CarrierWebhooks>
  /** Null if the settings do not configure a SIP port. */
  trunks: SipTrunks | null
}

type Line = PhoneLine & { close(): Promise<void> }

export function openLines(app: App, simulator: SimulatedCarrier): Lines {
  const { config, store, clock } = app
  const legs = new ExpectedLegs({
    ownerId: store.instanceId,
    addressFor: (line) => addressesFor(line, app).sockets,
    rateHz: config.carrier.sampleRate,
  })
  const simulated = openSimulated(app, simulator)
  const simulatorKey = publicKeyOf(simulatorSeed(app.secrets.masterKey))
  const readers = new Map<LineName, CarrierWebhooks>([
    ['simulator', createTelnyxWebhooks({ publicKey: simulatorKey, clock })],
  ])
  const { adapter, telnyx } = config.carrier
  const carrier = adapter === 'telnyx' ? openTelnyx(app) : null
  if (carrier !== null && telnyx.publicKey !== null)
    readers.set('carrier', createTelnyxWebhooks({ publicKey: telnyx.publicKey, clock }))
  const trunks = createSipTrunks(app, legs)
  const trunk = trunks?.line ?? null
  app.closing(() => Promise.all([simulated.close(), carrier?.close(), trunk?.close()]))
  const named: Partial<Record<LineName, Line>> = {
    simulator: simulated,
    ...(carrier && { carrier }),
    ...(trunk && { trunk }),
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
    trunks,
  }
}

function openSimulated(app: App, simulator: SimulatedCarrier): Line {
  const { requestMs } = app.config.carrier
  const line = lazily<Line, (typeof commands)[number]>(commands, async () => {
    const { baseUrl, apiKey } = await simulator.open()
    const account = { baseUrl, apiKey, connectionId: 'simulator', webhookUrl: addressesFor('simulator', app).webhooks }
    return createTelnyxLine({ name: 'simulator', ...account, requestMs, clock: app.clock })
  })
  return { name: 'simulator', ...line }
}

const commands = ['dial', 'answer', 'reject', 'hangUp', 'bridge', 'sendDtmf', 'isAlive', 'find'] as const

/** Opens the phone line over Telnyx. Throws ConfigError if a setting is missing. */
function openTelnyx(app: App): Line {
  const { config, clock } = app
  const { requestMs, telnyx } = config.carrier
  const { apiKey, connectionId, publicKey, baseUrl } = telnyx
  if (apiKey === null || connectionId === null || publicKey === null)
    throw new ConfigError('carrier.telnyx: apiKey, connectionId and publicKey are required with the adapter telnyx')
  if (config.publicUrl === null) throw new ConfigError('publicUrl: is required with the adapter telnyx')
  const account = { baseUrl, apiKey, connectionId, webhookUrl: addressesFor('carrier', app).webhooks }
  return createTelnyxLine({ name: 'carrier', ...account, requestMs, clock })
}
