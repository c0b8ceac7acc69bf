/** The line of SIP trunks of this process. */
import { isIP, isIPv6 } from 'node:net'
import type { LegDialogs } from './domain/ports/leg-dialogs.ts'
import type { LegEvents } from './domain/ports/phone-line.ts'
import type { SipConnections } from './domain/ports/sip-connections.ts'
import type { Log } from './domain/ports/system.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import type { ExpectedLegs } from './handlers/carrier/expected-legs.ts'
import { hostText } from './providers/trunk/address.ts'
import type { AwaitedLegs } from './providers/trunk/awaited-legs.ts'
import { TrunkLine } from './providers/trunk/phone-line.ts'
import { createRtpPorts } from './providers/trunk/rtp/ports.ts'
import { systemClock } from './runtime/clock.ts'
import { ConfigError } from './runtime/config.ts'
import { allowedAddresses, isAllowed } from './runtime/outbound/address-guard.ts'

export type TrunkParts = {
  config: Pick<ParleyConfig, 'sip' | 'outbound'>
  connections: SipConnections
  dialogs: LegDialogs
  legs: ExpectedLegs
  log: Log
}

export type SipTrunks = {
  line: TrunkLine
  /** Opens the port: calls come in from now on. Rejects with ConfigError where it cannot be opened. */
  serve(events: LegEvents): Promise<void>
}

/** Null: the settings name no port. */
export function createSipTrunks({ config, connections, dialogs, legs, log }: TrunkParts): SipTrunks | null {
  const { sip, outbound } = config
  const { host, port } = sip
  if (port === null) return null
  const clock = systemClock
  const policy = { allowedSubnets: outbound.allowedSubnets }
  let events: LegEvents | null = null
  const line = new TrunkLine({
    host,
    port,
    publicAddress: sip.publicAddress ?? host,
    connections,
    dialogs,
    rtp: createRtpPorts({ host, ports: portsOf(sip), mayReach: (address) => isAllowed(address, policy), clock, log }),
    legs: awaited(legs),
    resolve: (name) => allowedAddresses(name, isIPv6(host) ? 6 : 4, policy),
    received: (event) => events?.received('trunk', event) ?? Promise.resolve(),
    limits: sip,
    clock,
    log,
  })
  return {
    line,
    async serve(receiver) {
      events = receiver
      await line.open().catch((cause: NodeJS.ErrnoException) => {
        const reason = cause.code === 'EADDRINUSE' ? 'in use' : `not to be had (${cause.code ?? 'unknown'})`
        throw new ConfigError(`sip.port: ${port} at ${host} is ${reason}`, { cause })
      })
    },
  }
}

/** The address to which trunks send calls. Null: they may not. */
export function sipUriOf({ sip: { host, port, publicAddress } }: Pick<ParleyConfig, 'sip'>): string | null {
  return port === null ? null : `sip:${hostText(publicAddress ?? host)}:${port}`
}

/** Throws ConfigError. */
export function checkSip({ sip, processes }: Pick<ParleyConfig, 'sip' | 'processes'>): void {
  const { port, host, publicAddress } = sip
  if (port === null) return
  if (processes > 1)
    throw new ConfigError(
      `sip.port: needs one process, because a call belongs to the socket on which it came: set PARLEY_PROCESSES to 1 (it is ${processes}), or unset PARLEY_SIP_PORT`,
    )
  if (isIP(host) === 0) throw new ConfigError(`sip.host: ${host} is no IP address of this machine`)
  const address = publicAddress ?? host
  if (isIP(address) === 0) throw new ConfigError(`sip.publicAddress: ${address} is no IP address`)
  if (isEach(address))
    throw new ConfigError('sip.publicAddress: is required: the IP address at which trunks reach this machine')
  const { from, to } = portsOf(sip)
  if (from >= to || to > portMax) throw new ConfigError(`sip.rtpPorts: ${sip.rtpPorts} is no range of ports`)
}

const portMax = 65_535
const isEach = (address: string) => address === '0.0.0.0' || address === '::'

function portsOf({ rtpPorts }: ParleyConfig['sip']): { from: number; to: number } {
  const [from = 0, to = 0] = rtpPorts.split('-').map(Number)
  return { from, to }
}

/** The audio of trunks is in this process, so that a token opens no socket. */
function awaited(legs: ExpectedLegs): AwaitedLegs {
  return {
    open(legId, { token }) {
      const found = legs.find(legId, token)
      if (found === null || 'ownerId' in found || !found.take()) return null
      const { leg } = found
      return {
        sampleRateHz: leg.sampleRateHz,
        joined: (transport) => leg.joined(transport),
        failed: (reason) => leg.failed(reason),
      }
    },
  }
}
