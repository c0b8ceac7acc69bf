/** Stores the calls' legs, so no leg stays open if its process dies. */
import type { LegEvent, LegRef, LineName } from '../ports/phone-line.ts'
import type { Tenant } from './organization.ts'

export type LegParty = 'caller' | 'recipient'

export type Leg = Tenant & {
  /** `leg_…` */
  id: string
  callId: string
  party: LegParty
  direction: 'inbound' | 'outbound'
  line: LineName
  /** Null until the line has answered a dial. */
  carrierLegId: string | null
  createdAtMs: number
  answeredAtMs: number | null
  endedAtMs: number | null
  /** Null if the price is unknown. */
  microUsdPerMinute: number | null
  /**
   * `sip_…`, the SIP connection over which the leg began. It is known while a process holds the call, and is not
   * stored.
   */
  connectionId?: string | null
}

/** An open leg without a process to follow it. */
export type OrphanedLeg = Pick<Leg, 'organizationId' | 'test' | 'id' | 'callId' | 'line' | 'carrierLegId'>

/** Works across organizations, because a line's events name no organization. */
export interface LegStore {
  /** Finds a leg by our id or by the line's id. */
  find(line: LineName, of: { legId: string | null; carrierLegId: string }): Promise<Leg | null>
  /** Called before the line dials, so the leg has a row even if the process dies afterwards. */
  insert(leg: Leg): Promise<void>
  dialed(leg: Leg, carrierLegId: string): Promise<void>
  /** A second call changes nothing. */
  answered(leg: Tenant & { id: string }, atMs: number): Promise<void>
  /** A second call changes nothing. */
  ended(leg: Tenant & { id: string }, atMs: number): Promise<void>
  /**
   * Finds open legs if their call or their failed or cancelled transfer attempt ended at least `graceMs` ago, or if no
   * living process holds their call. Two legs connected by a transfer talk on without a process, unless they are trunk
   * legs: they are left out until either has been over for `graceMs`, or the organization cannot pay for them. Returns
   * at most `limit` legs per line, taking organizations in turn: if a line does not answer, its legs come up again and
   * again and must not hide other legs.
   */
  orphans(graceMs: number, limit: number): Promise<readonly OrphanedLeg[]>
  /**
   * Finds open legs that were connected by a transfer and outlive their call. No process follows them, so an end may
   * have been missed.
   */
  unattended(limit: number): Promise<readonly OrphanedLeg[]>
}

/** Without a sign of life for this long, a leg may have ended without an event. */
const silentMs = 30_000
/**
 * The limit for legs connected by the line. Their audio does not come here, and if one far end leaves, the other party
 * is in silence. A leg often ends seconds after its connection.
 */
const silentAloneMs = 5_000

/** True if the line must be asked about a leg without a sign of life for `forMs`. */
export function mayBeOver(forMs: number, isHandedOver: boolean): boolean {
  return forMs >= (isHandedOver ? silentAloneMs : silentMs)
}

/** The leg's owner in this process. */
export interface LegHolder {
  readonly leg: Leg
  event(event: LegEvent): void
  /** Asks the line about the leg after a long silence. */
  look(): Promise<void>
}

export function refOf({ id, carrierLegId }: Pick<Leg, 'id' | 'carrierLegId'>): LegRef | null {
  return carrierLegId === null ? null : { legId: id, carrierLegId }
}
