/** Transfers as stored and as requested, and the commands sent to a call's process. */
import type { NotDialed } from './not-dialed.ts'
import type { Tenant } from './organization.ts'
import type { FailureCause, TransferStatus } from './states/transfer.ts'

export const transferKinds = ['blind', 'warm'] as const
export type TransferKind = (typeof transferKinds)[number]

/** One attempt to reach one recipient. Its row is created when the number is dialled. */
export type Transfer = Tenant & {
  /** A UUIDv7. */
  id: string
  callId: string
  kind: TransferKind
  status: TransferStatus
  failureCause: FailureCause | null
  /** A phone number in E.164 form. */
  to: string
  label: string | null
  /** `leg_…`, the recipient's leg. */
  legId: string
  callerIdentity: string
  recipientIdentity: string
  /** Null if the leg goes over a carrier. */
  outboundTrunkId: string | null
  /** The question to the recipient before the connection. Null if the transfer is blind. */
  screeningPrompt: string | null
  summary: string | null
  voicemailDetected: boolean
  metadata: Readonly<Record<string, unknown>>
  /** The fallback after this attempt, if this was the last attempt. Null if there was no fallback. */
  fallback: DoneFallback | null
  createdAtMs: number
  updatedAtMs: number
  /** The time when the attempt reached its final status. */
  completedAtMs: number | null
}

/** Returns true if any attempt connected a recipient. */
export function hasCompletedAttempt(attempts: readonly Pick<Transfer, 'status'>[]): boolean {
  return attempts.some(({ status }) => status === 'completed')
}

export type Destination = {
  /** A phone number in E.164 form. */
  to: string
  label: string | null
  screeningPrompt: string | null
  summary: string | null
  metadata: Readonly<Record<string, unknown>>
}

export const fallbackActions = ['return_to_assistant', 'take_message', 'end_call'] as const
export type FallbackAction = (typeof fallbackActions)[number]

/** The action for the caller if no recipient was reached. */
export type Fallback = {
  action: FallbackAction
  message: string | null
  takeMessagePrompt: string | null
  holdAudioUrl: string | null
}
/** A fallback that was carried out. */
export type DoneFallback = Fallback & { voicemailDetected: boolean }

export const detectionModes = ['agent', 'carrier', 'disabled'] as const
export type MachineDetection = { mode: (typeof detectionModes)[number]; timeoutSeconds: number }

/** A checked and complete request: numbers are valid, defaults are filled in, templates are rendered. */
export type TransferSettings = {
  kind: TransferKind
  /** The number to call from, E.164: the call's number, or another number of the organization for outbound calls. */
  from: string
  /** Destinations are tried in order. A blind transfer has exactly one destination. */
  destinations: readonly Destination[]
  ringingTimeoutS: number
  /** Null if the transfer is blind. */
  screeningTimeoutS: number | null
  fallback: Fallback
  /** Null if the transfer is blind. */
  detection: MachineDetection | null
  /** SIP headers for the recipient's leg. Only for a blind transfer. */
  headers: Readonly<Record<string, string>>
  /** If true, the caller receives the ringback tone, otherwise the hold audio. Only for a blind transfer. */
  playsDialtone: boolean
  /**
   * True if `from` is the call's number. The call's process then dials over the SIP connection on which the call began.
   */
  isNumberOfCall: boolean
  /** The SIP connection of `from` if `from` is not the call's number. Null if `from` has no SIP connection. */
  outboundTrunkId: string | null
}

/**
 * If `summary` is null or absent, the attempt's summary is kept. Processes that run an earlier release leave it out.
 */
type NewSummary = { summary?: string | null }
export type TransferCancelRequest = { tryNext: boolean; voicemailDetected: boolean; reason: string | null } & NewSummary
export type TransferCompleteRequest = { recipientIdentity: string | null } & NewSummary

/** A command about a call's transfers, as sent to the call's process. */
export type TransferCommand =
  | { action: 'start'; wanted: TransferSettings }
  | ({ action: 'complete'; transferId: string } & TransferCompleteRequest)
  | { action: 'cancel'; transferId: string; wanted: TransferCancelRequest }

/** The answer after a command was carried out. It contains ids only, because the rows are stored. */
export type TransferDone = {
  /** After the command `start`, the newest attempt. After another command, the attempt in the command. */
  transferId: string
  /** The transfer's attempts so far, oldest first. */
  attemptIds: readonly string[]
  /** The attempt begun by a `cancel` command. */
  nextId: string | null
}

export type TransferRefusal =
  /** `isEnding`: the call is still connected, but the agent is already saying its last words. */
  | { refused: 'call_not_live'; isEnding?: true }
  /** `isConnected`: the caller talks to the recipient already. */
  | { refused: 'transfer_in_progress'; isConnected?: true }
  /** The call is not a phone call. */
  | { refused: 'transfer_unsupported' }
  | { refused: 'not_found' }
  | { refused: 'state_conflict'; status: TransferStatus }
  /** The carrier refused a blind transfer. Its row has failed. */
  | { refused: 'not_dialed'; why: NotDialed }
  | { refused: 'recipient_mismatch' }
  /** A trunk and a carrier cannot connect each other's legs. */
  | { refused: 'number_of_other_line' }

export type TransferAnswer = TransferDone | TransferRefusal

/**
 * Runs transfers for this process's calls. A client's mistake is returned as a refusal, and the promise does not
 * reject.
 */
export interface LiveTransfers {
  command(tenant: Tenant, callId: string, command: TransferCommand): Promise<TransferAnswer>
  /** Resolves when all transfer attempts have ended and their rows are stored. */
  decided(tenant: Tenant, callId: string): Promise<void>
}

/** Reads stored transfer attempts. They are written through the call's record: `PhoneLog.transfer`. */
export interface TransferStore {
  find(tenant: Tenant, callId: string, id: string): Promise<Transfer | null>
  /** Lists the call's transfer attempts, oldest first. */
  list(tenant: Tenant, callId: string): Promise<readonly Transfer[]>
}

/** A changed attempt: its row is stored, and the event `transfer.<status>` is sent. */
export type TransferChange = { transfer: Transfer; nextTransferId: string | null }
