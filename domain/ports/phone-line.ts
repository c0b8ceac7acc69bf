/**
 * A line carries legs: it is a carrier, its simulator or a SIP trunk. A leg is one phone connection. `legId` is our id;
 * the line gives the leg a second id, `carrierLegId`, when it begins.
 */
import type { CancelSignal } from './system.ts'

export type LineName = 'simulator' | 'carrier' | 'trunk'
export type LegRef = { legId: string; carrierLegId: string }

/** The address for a leg's audio. The token opens the address once, for this leg alone. */
export type MediaEndpoint = { url: string; token: string; sampleRateHz: 8000 | 16_000 }

export type LegToDial = {
  legId: string
  /** The line's outbound connection, if the line has several. */
  connectionId?: string
  /**
   * The caller's leg in a blind transfer. If a line's far ends can dial, the line lets this leg's far end make the
   * call.
   */
  transferee?: LegRef
  /** E.164, as `to`. */
  from: string
  to: string
  ringingTimeoutS: number
  /** The line ends the leg after this time: 30 to 14,400 s. */
  timeLimitS: number
  /** A hint; a line may ignore it. */
  region: string | null
  /** With `carrier`, the line reports by `machine_detection` whether a person or a machine answered. */
  detectsMachine: 'carrier' | null
  /** Null if the leg brings no audio here because it will be bridged. */
  media: MediaEndpoint | null
  /** SIP headers for the far end. */
  headers: Readonly<Record<string, string>>
  /** If a line gets a command twice, it acts once. */
  commandId: string
}

/** The only codes for refusing a caller's call. */
export type RejectCode = 404 | 480 | 486 | 503

/** Every method rejects with PhoneLineError. */
export interface PhoneLine {
  readonly name: LineName
  /**
   * Resolves when the line has begun to dial, however late. Rejects if `signal` is aborted; if the leg is dialled all
   * the same, it is hung up.
   */
  dial(leg: LegToDial, signal: CancelSignal): Promise<{ carrierLegId: string }>
  answer(leg: LegRef, media: MediaEndpoint): Promise<void>
  reject(leg: LegRef, sipCode: RejectCode): Promise<void>
  /** If the leg is gone, this is not an error. */
  hangUp(leg: LegRef): Promise<void>
  /** Connects two legs. When `other` leaves, `leg` stays open; when `leg` leaves, the line may hang up `other`. */
  bridge(leg: LegRef, other: LegRef): Promise<void>
  sendDtmf(leg: LegRef, digits: string): Promise<void>
  /** False if the line has ended the leg, or knows no such leg. */
  isAlive(leg: LegRef): Promise<boolean>
  /** Finds an open leg by its `legId`, because the answer to its dial may be lost. Null if no leg is open. */
  find(legId: string): Promise<LegRef | null>
}

/**
 * `refused`: the line answered with a refusal. `unreachable`: nothing was sent, or the line is not able to answer.
 * `timeout`: the line may have acted.
 */
export type PhoneLineFailure = 'refused' | 'unreachable' | 'timeout'

export class PhoneLineError extends Error {
  readonly kind: PhoneLineFailure
  /** The refusal's SIP code, if the line names it. */
  readonly sipCode: number | null
  /** True if the line knows no such leg, or has ended it. */
  readonly isGone: boolean

  /** The cause is for the log. It names neither numbers nor keys. */
  constructor(kind: PhoneLineFailure, detail: { sipCode?: number | null; isGone?: boolean; cause?: unknown } = {}) {
    super(`phone line ${kind}`, { cause: detail.cause })
    this.name = 'PhoneLineError'
    this.kind = kind
    this.sipCode = detail.sipCode ?? null
    this.isGone = detail.isGone ?? false
  }
}

/** Every unparsed sign of a forwarded call. */
export type ForwardingFields = {
  forwardedFrom: string | null
  originalTo: string | null
  redirectingNumber: string | null
  /** The header values, topmost first. */
  diversion: readonly string[]
  historyInfo: readonly string[]
  privacy: readonly string[]
}

/** An event on a leg. If the line repeats the event, `id` is the same. */
export type LegEvent = LegEventHead & LegEventBody
export type LegEventHead = { id: string; occurredAtMs: number; carrierLegId: string; legId: string | null }
export type LegEventBody =
  | {
      type: 'initiated'
      direction: 'incoming' | 'outgoing'
      /** Null if withheld. */
      from: string | null
      to: string
      /** The line's connection for this call. */
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

/** Counts line events without effect: the leg is unknown, or the line did not sign the event. */
export type CountIgnoredEvent = (line: LineName, reason: 'unknown_leg' | 'forged') => void

export interface LegEvents {
  /** Resolves when the event is stored or handed on. A repeated event id has no effect. */
  received(line: LineName, event: LegEvent): Promise<void>
}
