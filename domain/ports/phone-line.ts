/**
 * A phone line ("line" below) carries legs: it is a carrier, its simulator or a SIP trunk. A leg is one phone
 * connection. `legId` is this server's id. When the leg begins, the line assigns a second id, `carrierLegId`.
 */
import type { CancelSignal } from './system.ts'

export type LineName = 'simulator' | 'carrier' | 'trunk'
export type LegRef = { legId: string; carrierLegId: string }

/** The URL for a leg's audio. The token opens the URL once, for this leg alone. */
export type MediaEndpoint = { url: string; token: string; sampleRateHz: 8000 | 16_000 }

export type LegToDial = {
  legId: string
  /** The outbound connection to use, if the line has several. */
  connectionId?: string
  /**
   * The caller's leg in a blind transfer. If the line supports it, the caller's SIP endpoint is asked to make this call
   * (REFER).
   */
  transferee?: LegRef
  /** A phone number in E.164 form, like `to`. */
  from: string
  to: string
  ringingTimeoutS: number
  /** The line ends the leg after this time. Between 30 and 14,400 s. */
  timeLimitS: number
  /** The preferred region. A line may ignore it. */
  region: string | null
  /**
   * `carrier`: the line detects if a person or a machine answered, and reports the result with the event
   * `machine_detection`.
   */
  detectsMachine: 'carrier' | null
  /** Null if this server does not receive the leg's audio, because the line will connect the leg to another leg. */
  media: MediaEndpoint | null
  /** SIP headers for the called party. */
  headers: Readonly<Record<string, string>>
  /** If a line receives the same command id twice, it acts only once. */
  commandId: string
}

/** The only SIP codes used to refuse an inbound call. */
export type RejectCode = 404 | 480 | 486 | 503

/** If the line refuses a command or does not answer, the method rejects with PhoneLineError. */
export interface PhoneLine {
  readonly name: LineName
  /**
   * Resolves when the line has begun to dial, however late. Rejects if `signal` is aborted. If the line dials the leg
   * even after that, the leg is hung up.
   */
  dial(leg: LegToDial, signal: CancelSignal): Promise<{ carrierLegId: string }>
  answer(leg: LegRef, media: MediaEndpoint): Promise<void>
  reject(leg: LegRef, sipCode: RejectCode): Promise<void>
  /** Hangs up a leg. If the leg is over already, this is not an error. */
  hangUp(leg: LegRef): Promise<void>
  /** Connects two legs. When `other` ends, `leg` stays open. When `leg` ends, the line may hang up `other`. */
  bridge(leg: LegRef, other: LegRef): Promise<void>
  sendDtmf(leg: LegRef, digits: string): Promise<void>
  /** Resolves with false if the line has ended the leg, or does not know it. */
  isAlive(leg: LegRef): Promise<boolean>
  /**
   * Finds an open leg by its `legId`, because the answer to its dial command may be lost. Resolves with null if there
   * is no such open leg.
   */
  find(legId: string): Promise<LegRef | null>
}

/**
 * `refused`: the line refused the command. `unreachable`: nothing was sent, or the line is not able to answer.
 * `timeout`: the line may have acted.
 */
export type PhoneLineFailure = 'refused' | 'unreachable' | 'timeout'

export class PhoneLineError extends Error {
  readonly kind: PhoneLineFailure
  /** The refusal's SIP code, if the line reports it. */
  readonly sipCode: number | null
  /** True if the line does not know the leg, or has ended it. */
  readonly isGone: boolean

  /** `cause` is logged, so it must contain neither phone numbers nor keys. */
  constructor(kind: PhoneLineFailure, detail: { sipCode?: number | null; isGone?: boolean; cause?: unknown } = {}) {
    super(`phone line ${kind}`, { cause: detail.cause })
    this.name = 'PhoneLineError'
    this.kind = kind
    this.sipCode = detail.sipCode ?? null
    this.isGone = detail.isGone ?? false
  }
}

/** All data that indicates a forwarded call, unchanged as the line received it. */
export type ForwardingFields = {
  forwardedFrom: string | null
  originalTo: string | null
  redirectingNumber: string | null
  /** Header values, topmost header first. */
  diversion: readonly string[]
  historyInfo: readonly string[]
  privacy: readonly string[]
}

/** An event on a leg. If the line sends an event again, the `id` is the same. */
export type LegEvent = LegEventHead & LegEventBody
export type LegEventHead = { id: string; occurredAtMs: number; carrierLegId: string; legId: string | null }
export type LegEventBody =
  | {
      type: 'initiated'
      direction: 'incoming' | 'outgoing'
      /** Null if the caller withholds the number. */
      from: string | null
      to: string
      /** The line's connection that received the call. */
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

/**
 * Counts ignored events. `unknown_leg`: this server does not know the leg. `forged`: the line did not sign the event.
 */
export type CountIgnoredEvent = (line: LineName, reason: 'unknown_leg' | 'forged') => void

export interface LegEvents {
  /** Resolves when the event is stored or passed to another process. A repeated event id has no effect. */
  received(line: LineName, event: LegEvent): Promise<void>
}
