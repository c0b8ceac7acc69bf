/** This process's telephone line for SIP trunks. */
import { isIPv6 } from 'node:net'
import type { LegEvents } from '../domain/ports/phone-line.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import type { ExpectedLegs } from '../handlers/carrier/expected-legs.ts'
import { hostText } from '../providers/trunk/address.ts'
import type { AwaitedLegs } from '../providers/trunk/awaited-legs.ts'
import { TrunkLine } from '../providers/trunk/phone-line.ts'
import { createRtpPorts } from '../providers/trunk/rtp/ports.ts'
import { allowedAddresses, isAllowed } from '../runtime/outbound/address-guard.ts'
import { ConfigError } from '../runtime/process/config.ts'
import type { App } from './app.ts'
import { rtpPortsOf } from './settings.ts'

export type SipTrunks = {
  line: TrunkLine
  /** Opens the port for incoming calls. Rejects with ConfigError if the port cannot be opened. */
  open(events: LegEvents): Promise<void>
}

/** The context's members for trunks. Tests provide only these members. */
type TrunkApp = Pick<App, 'clock' | 'log' | 'owners'> & {
  config: Pick<ParleyConfig, 'sip' | 'outbound'>
  store: Pick<App['store'], 'sipConnections' | 'trunkDialogs'>
}

/** Makes the phone line for SIP trunks. Null if the settings name no port. */
export function createSipTrunks({ config, store, owners, clock, log }: TrunkApp, legs: ExpectedLegs): SipTrunks | null {
  const { sip, outbound } = config
  const { host, port } = sip
  if (port === null) return null
  const policy = { allowedSubnets: outbound.allowedSubnets }
  const line = new TrunkLine({
    host,
    port,
    publicAddress: sip.publicAddress ?? host,
    connections: store.sipConnections,
    dialogs: store.trunkDialogs,
    rtp: createRtpPorts({
      host,
      ports: rtpPortsOf(sip),
      mayReach: (address) => isAllowed(address, policy),
      clock,
      log,
    }),
    legs: awaited(legs),
    resolve: (name) => allowedAddresses(name, isIPv6(host) ? 6 : 4, policy),
    owners,
    limits: sip,
    clock,
    log,
  })
  return {
    line,
    async open(events) {
      await line
        .open((event) => events.received('trunk', event))
        .catch((cause: NodeJS.ErrnoException) => {
          const reason = cause.code === 'EADDRINUSE' ? 'in use' : `not to be had (${cause.code ?? 'unknown'})`
          throw new ConfigError(`sip.port: ${port} at ${host} is ${reason}`, { cause })
        })
    },
  }
}

/** Returns the SIP URI that trunks call. Null if the server accepts no such calls. */
export function sipUriOf({ sip: { host, port, publicAddress } }: Pick<ParleyConfig, 'sip'>): string | null {
  return port === null ? null : `sip:${hostText(publicAddress ?? host)}:${port}`
}

/**
 * Finds the leg that waits for a trunk's audio. The trunk's audio arrives in this process as RTP, so the leg's token is
 * not needed to open a media socket.
 */
function awaited(legs: ExpectedLegs): AwaitedLegs {
  return {
    open(legId, { token }) {
      const expected = legs.find(legId, token)
      if (expected === null || 'ownerId' in expected || !expected.take()) return null
      const { leg } = expected
      return {
        sampleRateHz: leg.sampleRateHz,
        joined: (transport) => leg.joined(transport),
        failed: (reason) => leg.failed(reason),
      }
    },
  }
}
