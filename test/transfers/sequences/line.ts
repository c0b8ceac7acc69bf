/** A line for a sequence: the simulated carrier or a SIP trunk, with the people at its far ends. */
import type { LegEvent, LineName, PhoneLine } from '../../../domain/ports/phone-line.ts'
import type { Life } from './life.ts'

/** The caller's leg is the first one in the sequence. */
export const callerLegId = 'v3:1'

export type LineEvents = {
  /**
   * Brings an event to a server. With `life`, only to this process. Rejects if the process has not taken the event and
   * the line does not repeat it.
   */
  deliver(event: LegEvent, life: Life | null): Promise<void>
  /** Opens an answered leg's stream. */
  stream(carrierLegId: string, address: string): void
  /** The leg is over, and its stream too. */
  over(carrierLegId: string): void
  /** The line does not dial this leg, by our name for it. */
  refused(legId: string): void
  /** A command to hang up has reached the line. */
  hangUp(carrierLegId: string): void
  /** For a sequence's trace. */
  command(text: string): void
}

export interface SequenceLine {
  readonly name: LineName
  /** Legs whose people have not left. */
  readonly alive: ReadonlySet<string>
  isAlive(carrierLegId: string): boolean
  /** Null: the leg is not bridged. */
  peerOf(carrierLegId: string): string | null
  /** A person calls, as this leg. `life`: the process with the line, if only one process has it. */
  call(from: string, to: string, life: Life): string
  /** The person at the far end leaves. */
  leaves(carrierLegId: string): void
  /** The person at the far end presses a key. */
  presses(carrierLegId: string, digit: string): void
  /** The leg's hang-up event is lost. */
  lostHangup(carrierLegId: string): void
  /** One process's line. */
  line(life: Life): PhoneLine
}
