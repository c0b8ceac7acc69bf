/** A call with its conversation, as the code that begins, holds and joins it sees them. */
import type { SecretsByTool } from '../../agents/join-tools.ts'
import type { AnswerableConversation } from '../../answering/answerable.ts'
import type { AnswerPlan } from '../../answering/answering.ts'
import type { CallerObserver } from '../../answering/caller-observer.ts'
import type { MediaSink, MediaTransport } from '../../ports/media.ts'
import type { Call } from '../../records/call.ts'
import type { Caller } from '../../records/organization.ts'
import type { EndReason } from '../../records/states/call.ts'
import type { CallLog } from './call-log.ts'
import type { TransferableConversation } from './transferable.ts'

/** A person who takes part in a call beside the agent. `displayName` is null if nobody gave one. */
export type JoinedPerson = { identity: string; displayName: string | null }

/** A conversation that runs. Its end is reported once, by the promise that it was started with. */
export type Conversation = MediaSink &
  TransferableConversation &
  AnswerableConversation & {
    /** Nobody can join it any more, although its record may not be complete. */
    readonly isOver: boolean
    /** A person comes, or comes back over another socket. */
    join(person: JoinedPerson, transport: MediaTransport): MediaSink
  }

/**
 * `log`: the record of the call has begun before its conversation. `answerPlan`: a machine may answer the call. `observer`
 * gets the audio of the caller. `note`: for the LLM, before the first word. `ignoredRegion`: one that was asked for, and that
 * the line of the call does not have.
 */
export type LiveCall = {
  call: Call
  secrets: SecretsByTool
  log?: CallLog
  answerPlan?: AnswerPlan
  observer?: CallerObserver
  note?: string
  ignoredRegion?: string
}

/** A call by phone, which this process holds before its conversation begins. */
export interface HeldCall {
  /** Begins the conversation with these settings. Called once. */
  begin(live: LiveCall, transport: MediaTransport): MediaSink
  /** The call has ended without a conversation. A second call does nothing. */
  drop(): void
  /** Null: it has not begun. */
  readonly conversation: (TransferableConversation & AnswerableConversation) | null
}

/** The holder of a call by phone. */
export interface CallHolder {
  /** Ends the call before its conversation has begun. */
  end(reason: EndReason, clientReason?: string): void
  /** The conversation is over, and its record complete. */
  conversationOver(): void
}

/** Begins to talk over `transport`. `ended` is called once, when the record of the call is complete. */
export type StartConversation = (
  live: LiveCall,
  caller: Caller,
  transport: MediaTransport,
  ended: () => void,
) => Conversation
