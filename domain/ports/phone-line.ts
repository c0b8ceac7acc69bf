/**
 * A line carries legs: it is a carrier, its simulator or a SIP trunk. A leg is one phone connection. Its id is ours; the
 * line gives it another one (`carrierLegId`) when the leg begins.
 */
import type { CancelSignal } from './system.ts'

export type LineName = 'simulator' | 'carrier' | 'trunk'
export type LegRef = { legId: string; carrierLegId: string }

/** Where a line brings the audio of a leg. The token opens the address once, for this leg alone. */
export type MediaEndpoint = { url: string; token: string; sampleRateHz: 8000 | 16_000 }

export type LegToDial = {
  legId: string
  /** The connection of the line over which the call goes out, where it has several. */
  connectionId?: string
  /** A caller who is handed over without asking: a line whose far ends dial by themselves leaves the call to that of this leg. */
  transferee?: LegRef
  /** E.164, as `to`. */
  from: string
  to: string
  ringingTimeoutS: number
  /** The line ends the leg by itself when it has lasted this long: 30 to 14,400 s. */
  timeLimitS: number
  /** A hint, which a line may not have. */
  region: string | null
  /** `carrier`: the line says by `machine_detection` who has answered. */
  detectsMachine: 'carrier' | null
  /** Null: the leg brings no audio here. It will be bridged. */
  media: MediaEndpoint | null
  /** SIP headers for the far end. */
  headers: Readonly<Record<string, string>>
  /** A line that gets a command twice carries it out once. */
  commandId: string
}

/** A line answers these and no other to a caller whose call is not taken. */
export type RejectCode = 404 | 480 | 486 | 503

/** Every method rejects with PhoneLineError. */
export interface PhoneLine {
  readonly name: LineName
  /**
   * Resolves when the line has begun to dial, however late. Rejects when `signal` is aborted, and then a leg that is
   * dialled all the same is hung up.
   */
  dial(leg: LegToDial, signal: CancelSignal): Promise<{ carrierLegId: string }>
  answer(leg: LegRef, media: MediaEndpoint): Promise<void>
  reject(leg: LegRef, sipCode: RejectCode): Promise<void>
  /** A leg that is gone is no error. */
  hangUp(leg: LegRef): Promise<void>
  /** Connects the two. When `other` leaves, `leg` stays open; when `leg` leaves, the line may hang up `other`. */
  bridge(leg: LegRef, other: LegRef): Promise<void>
  sendDtmf(leg: LegRef, digits: string): Promise<void>
  /** False: the line has ended the leg, or knows no such leg. */
  isAlive(leg: LegRef): Promise<boolean>
  /** The open leg that was dialled as `legId`: the answer to its dial may be lost. Null: no leg is open. */
  find(legId: string): Promise<LegRef | null>
}

/**
 * `refused`: the line has answered that it does not do it. `unreachable`: nothing was sent, or the line is not able to
 * answer. `timeout`: it may have done it.
 */
export type PhoneLineFailure = 'refused' | 'unreachable' | 'timeout'

export class PhoneLineError extends Error {
  readonly kind: PhoneLineFailure
  /** The SIP code with which the far end or the line has refused, if the line names it. */
  readonly sipCode: number | null
  /** The line knows no such leg, or has ended it. */
  readonly isGone: boolean

  /** The cause is for the log, and names neither numbers nor keys. */
  constructor(kind: PhoneLineFailure, detail: { sipCode?: number | null; isGone?: boolean; cause?: unknown } = {}) {
    super(`phone line ${kind}`, { cause: detail.cause })
    this.name = 'PhoneLineError'
    this.kind = kind
    this.sipCode = detail.sipCode ?? null
    this.isGone = detail.isGone ?? false
  }
}

/** Everything by which a call may say that it was forwarded, as it came. */
export type ForwardingFields = {
  forwardedFrom: string | null
  originalTo: string | null
  redirectingNumber: string | null
  /** The values of the headers, the topmost first. */
  diversion: readonly string[]
  historyInfo: readonly string[]
  privacy: readonly string[]
}

/** Something that happened to a leg. `id` is the same each time that the line says it. */
export type LegEvent = LegEventHead & LegEventBody
export type LegEventHead = { id: string; occurredAtMs: number; carrierLegId: string; legId: string | null }
export type LegEventBody =
  | {
      type: 'initiated'
      direction: 'incoming' | 'outgoing'
      /** Null: withheld. */
      from: string | null
      to: string
      /** The connection of the line over which the call came. */
      connectionId?: string
      forwarding: ForwardingFields
    }
  | { type: 'ringing' }
  | { type: 'answered' }
  | { type: 'bridged' }
  | { type: 'hangup'; sipCode: number | null; cause: string; by: 'caller' | 'callee' | 'unknown' }
  | { type: 'machine_detection'; result: 'human' | 'machine' | 'not_sure' }
  | { type: 'dtmf'; digit: string }
  | { type: 'stream_started' }
  | { type: 'stream_stopped' }
  | { type: 'stream_failed'; reason: string }

/** Why an event of a line had no effect: it is of no leg that we know, or the line did not sign it. */
export type CountIgnoredEvent = (line: LineName, reason: 'unknown_leg' | 'forged') => void

export interface LegEvents {
  /** Resolves when the event is stored or handed on. An event whose id came before has no effect. */
  received(line: LineName, event: LegEvent): Promise<void>
}
