/** Transfers as they are stored and asked for, and the commands that the holder of a call takes for them. */
import type { NotDialed } from './not-dialed.ts'
import type { Tenant } from './organization.ts'
import type { FailureCause, TransferStatus } from './states/transfer.ts'

export const transferKinds = ['blind', 'warm'] as const
export type TransferKind = (typeof transferKinds)[number]

/** One attempt to reach one recipient. It is made when its number is dialled. */
export type Transfer = Tenant & {
  /** UUIDv7. */
  id: string
  callId: string
  kind: TransferKind
  status: TransferStatus
  failureCause: FailureCause | null
  /** E.164. */
  to: string
  label: string | null
  /** `leg_…`, the leg of the recipient. */
  legId: string
  callerIdentity: string
  recipientIdentity: string
  /** Null: the leg goes over a carrier. */
  outboundTrunkId: string | null
  /** Null: nobody is asked, because the transfer is blind. */
  screeningPrompt: string | null
  summary: string | null
  voicemailDetected: boolean
  metadata: Readonly<Record<string, unknown>>
  /** Carried out after this attempt, the last one. Null: none was. */
  fallback: DoneFallback | null
  createdAtMs: number
  updatedAtMs: number
  /** When its status became the last one. */
  completedAtMs: number | null
}

/** A recipient has taken the call. */
export function wasTaken(attempts: readonly Pick<Transfer, 'status'>[]): boolean {
  return attempts.some(({ status }) => status === 'completed')
}

export type Destination = {
  /** E.164. */
  to: string
  label: string | null
  screeningPrompt: string | null
  summary: string | null
  metadata: Readonly<Record<string, unknown>>
}

export const fallbackActions = ['return_to_assistant', 'take_message', 'end_call'] as const
export type FallbackAction = (typeof fallbackActions)[number]

/** The caller gets it when nobody was reached. */
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

/** All of it is checked, and complete: numbers are valid, defaults are in their places, templates are rendered. */
export type WantedTransfer = {
  kind: TransferKind
  /** The number to dial from, E.164: that of the call, or one of the organization that may call. */
  from: string
  /** One for a blind transfer. They are tried in their order. */
  destinations: readonly Destination[]
  ringingTimeoutS: number
  /** Null: blind. */
  screeningTimeoutS: number | null
  fallback: Fallback
  /** Null: blind. */
  detection: MachineDetection | null
  /** SIP headers for the recipient; blind only. */
  headers: Readonly<Record<string, string>>
  /** The caller receives the ringback tone; otherwise the hold audio. Blind only. */
  playsDialtone: boolean
  /** The number is that of the call, so that the holder of the call dials over the connection with which it began. */
  isNumberOfCall: boolean
  /** The SIP connection of another number. Null: it has none. */
  outboundTrunkId: string | null
}

/** A summary of null leaves that of the attempt. A process of an earlier version sends none. */
type NewSummary = { summary?: string | null }
export type WantedCancel = { tryNext: boolean; voicemailDetected: boolean; reason: string | null } & NewSummary
export type WantedComplete = { recipientIdentity: string | null } & NewSummary

/** A command for the transfers of a call, as it travels to the process that holds the call. */
export type TransferCommand =
  | { action: 'start'; wanted: WantedTransfer }
  | ({ action: 'complete'; transferId: string } & WantedComplete)
  | { action: 'cancel'; transferId: string; wanted: WantedCancel }

/** The answer to a command that was carried out, by ids: the rows are stored. */
export type TransferDone = {
  /** The newest attempt after `start`, else the named one. */
  transferId: string
  /** All of this transfer so far, the oldest first. */
  attemptIds: readonly string[]
  /** The attempt that a cancel has begun. */
  nextId: string | null
}

export type TransferRefusal =
  /** `isEnding`: the call is answered, and its last words are said. */
  | { refused: 'call_not_live'; isEnding?: true }
  | { refused: 'transfer_in_progress' }
  /** The call has no phone. */
  | { refused: 'transfer_unsupported' }
  | { refused: 'not_found' }
  | { refused: 'state_conflict'; status: TransferStatus }
  /** The carrier does not take a blind transfer, whose row has failed. */
  | { refused: 'not_dialed'; why: NotDialed }
  | { refused: 'recipient_mismatch' }
  /** A trunk and a carrier connect no legs of each other. */
  | { refused: 'number_of_other_line' }

export type TransferAnswer = TransferDone | TransferRefusal

/** The transfers of the calls that this process holds. Never rejects for a reason of the client. */
export interface LiveTransfers {
  command(tenant: Tenant, callId: string, command: TransferCommand): Promise<TransferAnswer>
  /** Resolves when no attempt is open, and the rows are stored. */
  decided(tenant: Tenant, callId: string): Promise<void>
}

/** The stored rows. They are written by the record of the call: `PhoneLog.transfer`. */
export interface TransferStore {
  find(tenant: Tenant, callId: string, id: string): Promise<Transfer | null>
  /** The oldest first. */
  list(tenant: Tenant, callId: string): Promise<readonly Transfer[]>
}

/** A change of an attempt, for its row and its event `transfer.<status>`. */
export type TransferChange = { transfer: Transfer; nextTransferId: string | null }
