import type { LegDialogs } from '../../domain/ports/leg-dialogs.ts'
import type { SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { Owners } from '../../runtime/shares/owners.ts'
import type { AwaitedLegs } from './awaited-legs.ts'
import type { TrunkLimits } from './limits.ts'
import type { RtpPorts } from './rtp-ports.ts'

export type TrunkOptions = {
  host: string
  port: number
  /** The IP address at which peers reach this machine. */
  publicAddress: string
  connections: SipConnections
  dialogs: LegDialogs
  rtp: RtpPorts
  legs: AwaitedLegs
  /** Looks up a host's IP addresses. Leaves out forbidden addresses. */
  resolve: (host: string) => Promise<readonly string[]>
  /**
   * The organizations on this server. If there is only one organization, it may use more than its part of the limits.
   */
  owners: Owners
  limits: TrunkLimits
  clock: Clock
  log: Log
}
