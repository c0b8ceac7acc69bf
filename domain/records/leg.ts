/** Stores calls' legs. If a process dies, another process finds its legs here and hangs them up. */
import type { LegEvent, LegRef, LineName } from '../ports/phone-line.ts'
import type { Tenant } from './organization.ts'

export type LegParty = 'caller' | 'recipient'

export type Leg = Tenant & {
  /** An id such as `leg_…`. */
  id: string
  callId: string
  party: LegParty
  direction: 'inbound' | 'outbound'
  line: LineName
  /** The phone line's id for this leg. Null until the phone line has answered the dial command. */
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

/** An open leg without a living process to follow it. */
export type OrphanedLeg = Pick<Leg, 'organizationId' | 'test' | 'id' | 'callId' | 'line' | 'carrierLegId'>

/** The methods work across organizations, because a phone line's events do not contain the organization. */
export interface LegStore {
  /** Finds a leg by our id or by the phone line's id. */
  find(line: LineName, of: { legId: string | null; carrierLegId: string }): Promise<Leg | null>
  /** Called before the phone line dials. So the leg has a row even if this process dies during the dial. */
  insert(leg: Leg): Promise<void>
  dialed(leg: Leg, carrierLegId: string): Promise<void>
  /** Stores the time of the leg's answer. Calling it again changes nothing. */
  answered(leg: Tenant & { id: string }, atMs: number): Promise<void>
  /** Stores the time of the leg's end. Calling it again changes nothing. */
  ended(leg: Tenant & { id: string }, atMs: number): Promise<void>
  /**
   * Finds open legs to hang up, if one of these is true:
   *
   * - The call ended at least `graceMs` ago.
   * - The transfer attempt failed or was cancelled at least `graceMs` ago.
   * - No living process holds the call. Two legs that a transfer has connected need no process, except on a trunk. They
   *   are found `graceMs` after one of the two has ended, or if the organization cannot pay for them.
   *
   * Returns at most `limit` legs per phone line, because the legs of a phone line that does not answer are found each
   * time and would displace others. Organizations take turns within the limit.
   */
  orphans(graceMs: number, limit: number): Promise<readonly OrphanedLeg[]>
  /**
   * Finds open legs that were connected by a transfer and outlive their call. No process follows them, so an end may
   * have been missed.
   */
  unattended(limit: number): Promise<readonly OrphanedLeg[]>
}

/**
 * If a leg has sent neither audio nor events for this long, the phone line is asked about the leg, because its end may
 * have been missed.
 */
const silentMs = 30_000
/**
 * Used instead of `silentMs` if the phone line has connected two legs with each other. It is shorter, because this
 * server does not receive the legs' audio, and if one party has left, the other party waits in silence. Often one leg
 * ends only seconds after the two were connected.
 */
const silentAloneMs = 5_000

/** Returns true if the phone line must be asked about a leg after `forMs` without audio or events. */
export function mayBeOver(forMs: number, isHandedOver: boolean): boolean {
  return forMs >= (isHandedOver ? silentAloneMs : silentMs)
}

/** Receives a leg's events in this process. */
export interface LegHolder {
  readonly leg: Leg
  event(event: LegEvent): void
  /** Asks the phone line if the leg still exists, after a long time without audio and events. */
  look(): Promise<void>
}

export function refOf({ id, carrierLegId }: Pick<Leg, 'id' | 'carrierLegId'>): LegRef | null {
  return carrierLegId === null ? null : { legId: id, carrierLegId }
}
