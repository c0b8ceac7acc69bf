/** The legs of calls as they are stored, so that none stays open when its process dies. */
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
  /** Null: the price is not known. */
  microUsdPerMinute: number | null
  /** `sip_…`, while a process holds the call of this leg: it began over this SIP connection. It is not stored. */
  connectionId?: string | null
}

/** A leg whose call goes on nowhere. */
export type OrphanedLeg = Pick<Leg, 'organizationId' | 'test' | 'id' | 'callId' | 'line' | 'carrierLegId'>

/** Legs of all organizations, because the events of a line name no organization. */
export interface LegStore {
  /** By our id, or by the name that its line has for it. */
  find(line: LineName, of: { legId: string | null; carrierLegId: string }): Promise<Leg | null>
  /** Is called before the line is asked to dial. If the process dies afterwards, the leg still has a row. */
  insert(leg: Leg): Promise<void>
  dialed(leg: Leg, carrierLegId: string): Promise<void>
  /** A second call changes nothing. */
  answered(leg: Tenant & { id: string }, atMs: number): Promise<void>
  /** A second call changes nothing. */
  ended(leg: Tenant & { id: string }, atMs: number): Promise<void>
  /**
   * Open legs of calls that ended at least `graceMs` ago, or that no living process holds, and of attempts to transfer a
   * call that failed or were cancelled as long ago. Two legs that were connected by a transfer talk on without a process
   * unless they are of a trunk: they are left out until one of them has been over for `graceMs`, or the organization cannot
   * pay for them. At most `limit` of each line, of its organizations in turn: legs whose line does not answer are found
   * again and again, and must not hide those of others.
   */
  orphans(graceMs: number, limit: number): Promise<readonly OrphanedLeg[]>
  /**
   * Open legs that were connected by a transfer and talk on after the end of their call: no process follows them, so that
   * an end may have been missed.
   */
  unattended(limit: number): Promise<readonly OrphanedLeg[]>
}

/** A leg that has shown no sign of life for this long may have ended without an event. */
const silentMs = 30_000
/**
 * The limit for legs that the line has connected. Their audio does not come here, and when the far end of one leaves, the
 * other is in silence. The end of a leg often follows its connection by seconds.
 */
const silentAloneMs = 5_000

/** Whether the line is to be asked about a leg without a sign of life for `forMs`. */
export function mayBeOver(forMs: number, isHandedOver: boolean): boolean {
  return forMs >= (isHandedOver ? silentAloneMs : silentMs)
}

/** The part of this process that a leg belongs to. */
export interface LegHolder {
  readonly leg: Leg
  event(event: LegEvent): void
  /** Asks the line about a leg that has shown no sign of life for a while. */
  look(): Promise<void>
}

export function refOf({ id, carrierLegId }: Pick<Leg, 'id' | 'carrierLegId'>): LegRef | null {
  return carrierLegId === null ? null : { legId: id, carrierLegId }
}
