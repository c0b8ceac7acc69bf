/** The interface between a conversation and the code that begins calls, registers them, and joins people to them. */
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

/** A person in a call beside the agent. `displayName` is null if the person has no name. */
export type JoinedPerson = { identity: string; displayName: string | null }

/** A running conversation. Its end is reported once, through the `ended` callback. */
export type Conversation = MediaSink &
  TransferableConversation &
  AnswerableConversation & {
    /** True when no person can join any more, even if the record is not complete yet. */
    readonly isOver: boolean
    /** Adds a person to the call, or reconnects a person over another socket. */
    join(person: JoinedPerson, transport: MediaTransport): MediaSink
  }

/**
 * All data about a call when its conversation begins. `log` is set if the call's record began before. `answerPlan` is
 * set if a machine may answer the call. `observer` gets the caller's audio. `note` is for the LLM, before the first
 * turn. `ignoredRegion` is a requested region that the call's carrier does not support.
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

/** A phone call that this process holds before its conversation begins. */
export interface RegisteredCall {
  /** Begins the conversation with these settings. Called once. */
  begin(live: LiveCall, transport: MediaTransport): MediaSink
  /** Removes the call, because it has ended without a conversation. A second call does nothing. */
  drop(): void
  /** The running conversation. Null until it has begun. */
  readonly conversation: (TransferableConversation & AnswerableConversation) | null
}

/** The code that controls a phone call's connection, such as a carrier's leg. These methods notify it. */
export interface CallHolder {
  /** Hangs up the call before its conversation has begun. */
  end(reason: EndReason, clientReason?: string): void
  /** Called when the conversation is over and its record is complete. */
  conversationOver(): void
}

/** Starts the conversation over `transport`. `ended` is called once, when the call's record is complete. */
export type StartConversation = (
  live: LiveCall,
  caller: Caller,
  transport: MediaTransport,
  ended: () => void,
) => Conversation
