/** A phone line for a sequence: the simulated carrier or a SIP trunk, with the people at its far ends. */
import type { LegEvent, LineName, PhoneLine } from '../../../domain/ports/phone-line.ts'
import type { Life } from './life.ts'

/** The caller's leg is the first one in the sequence. */
export const callerLegId = 'v3:1'

export type LineEvents = {
  /**
   * Brings an event to a server. With `life`, only to this process. Rejects if the process has not taken the event and
   * the phone line does not repeat it.
   */
  deliver(event: LegEvent, life: Life | null): Promise<void>
  /** Opens an answered leg's stream. */
  stream(carrierLegId: string, address: string): void
  /** Reports the end of the leg and its stream. */
  over(carrierLegId: string): void
  /** Reports that the phone line refuses to dial this leg. `legId` is our name for the leg. */
  refused(legId: string): void
  /** Reports the arrival of a hang-up command at the phone line. */
  hangUp(carrierLegId: string): void
  /** Adds a command to the sequence's trace. */
  command(text: string): void
}

export interface SequenceLine {
  readonly name: LineName
  /** Legs whose people have not hung up. */
  readonly alive: ReadonlySet<string>
  isAlive(carrierLegId: string): boolean
  /** Returns the other leg of the leg's bridge. Null if the leg is not bridged. */
  peerOf(carrierLegId: string): string | null
  /** Lets a person call. Returns the leg. If the phone line belongs to only one process, `life` is this process. */
  call(from: string, to: string, life: Life): string
  /** Lets the person at the remote end hang up. */
  leaves(carrierLegId: string): void
  /** Lets the person at the remote end press a key. */
  presses(carrierLegId: string, digit: string): void
  /** Notes that the leg's hang-up event is lost. */
  lostHangup(carrierLegId: string): void
  /** Returns the phone line of one process. */
  line(life: Life): PhoneLine
}
