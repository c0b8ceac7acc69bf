/** A line of a sequence: the simulated carrier or a SIP trunk, with the people at its far ends. */
import type { LegEvent, LineName, PhoneLine } from '../../../domain/ports/phone-line.ts'
import type { Life } from './life.ts'

/** The leg of the caller is the first one. */
export const callerLegId = 'v3:1'

export type LineEvents = {
  /** Brings an event to a server. `life`: to this process alone. Rejects when it has not taken it, and the line does not repeat it. */
  deliver(event: LegEvent, life: Life | null): Promise<void>
  /** Opens the stream of a leg that was answered. */
  stream(carrierLegId: string, address: string): void
  /** A leg is over, and its stream. */
  over(carrierLegId: string): void
  /** The line does not dial this leg, by our name for it. */
  refused(legId: string): void
  /** A command to hang up has reached the line. */
  hangUp(carrierLegId: string): void
  /** For the trace of a sequence. */
  command(text: string): void
}

export interface SequenceLine {
  readonly name: LineName
  /** The legs whose people have not left. */
  readonly alive: ReadonlySet<string>
  isAlive(carrierLegId: string): boolean
  /** Null: the leg is not bridged. */
  peerOf(carrierLegId: string): string | null
  /** Somebody calls, as this leg. `life`: the process that has the line, where only one has it. */
  call(from: string, to: string, life: Life): string
  /** The person at the far end leaves. */
  leaves(carrierLegId: string): void
  /** The person at the far end presses a key. */
  presses(carrierLegId: string, digit: string): void
  /** The event of the end of the leg is lost. */
  lostHangup(carrierLegId: string): void
  /** The line of one process. */
  line(life: Life): PhoneLine
}
