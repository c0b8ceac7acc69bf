/**
 * The interfaces between a conversation and the code around it. The code that starts the conversation passes them in.
 */

import type { CallerObserver } from '../../answering/caller-observer.ts'
import type { RequestContext, Route } from '../../dispatch/request.ts'
import type { ItemEvent } from '../../llm/answer-assembler.ts'
import type { Generate } from '../../llm/generate.ts'
import type { ItemsAnswer, ItemsInput } from '../../llm/items.ts'
import type { Aligner } from '../../ports/alignment.ts'
import type { Stage } from '../../ports/model.ts'
import type { CancelSignal, Clock, Log } from '../../ports/system.ts'
import type { Trace } from '../../ports/trace.ts'
import type { Vad } from '../../ports/vad.ts'
import type { Call } from '../../records/call.ts'
import type { Caller } from '../../records/organization.ts'
import type { PipelineTool } from '../../records/pipeline.ts'
import type { TransferToolRequest } from '../../records/transfer-request.ts'
import type { Routing } from '../../routing/ask.ts'
import type { SynthesizeStream, TranscribeStream } from '../../speech/stream.ts'
import type { Pacer } from './pacer.ts'

export type ConversationDeps = {
  clock: Clock
  log: Log
  /** Returns a new UUIDv7. */
  newId: () => string
  transcribeStream: TranscribeStream
  synthesizeStream: SynthesizeStream
  generateItems: Pick<Generate<ItemsInput, ItemsAnswer, ItemEvent>, 'stream'>
  vad: Vad
  openResampler: OpenResampler
  pacer: Pacer
  runTool: RunTool
  /** The maximum time by which audio is sent ahead of real time, as configured in `sessions.aheadMs`. */
  aheadMs: number
}

/**
 * The dependencies, each wrapped in a guard (see guarded.ts). `defect` reports an error that our code threw in a
 * promise.
 */
export type GuardedDeps = ConversationDeps & { defect: (error: unknown) => void }

export type ConversationInput = {
  call: Call
  caller: Caller
  /** A note for the LLM before the first turn. */
  note?: string
  /** The routing for speech to text, the LLM and text to speech: the pipeline's pins and filters. */
  routing: Readonly<Record<Stage, Routing>>
  /** Returns the preset voice most similar to the default voice of this route, or null. */
  presetLike: (route: Route) => string | null
  /**
   * Finds in the audio which of the agent's words were played, if the voice provider reports no word timings. If null,
   * the played words are estimated.
   */
  aligner: Aligner | null
  /** The trace context for the call's span. Absent or null if calls are not traced. */
  trace?: Trace | null
  /** Creates the context for one request to a model, with a new id. Without `trace` the request belongs to the call. */
  request: (signal: CancelSignal, trace?: Trace | null) => RequestContext
  /** Null if the call is not recorded. */
  recorder: CallRecorder | null
  /** Receives the caller's audio and words, to detect an answering machine. Null if no detection runs. */
  observer: CallerObserver | null
  /** Called once, when the call's record is complete. */
  ended: () => void
}

/** One voice in the recording. */
export interface RecordedVoice {
  /**
   * Records mono samples at `recordingRateHz`. Their last sample was played or spoken at `endMs`, on the monotonic
   * clock. The buffer may be reused after the function returns. If `endMs` differs from the expected time by less than
   * the voice's tolerance, the samples are appended without a gap.
   */
  write(samples: Int16Array, endMs: number): void
  /** Call this if the stream was interrupted. The next samples are then placed exactly at their time. */
  restart(): void
}

/** A call's recording: see `Recorder`. */
export type CallRecorder = {
  caller: RecordedVoice
  agent: RecordedVoice
  /** `uploading`: after the call the file is uploaded to the bucket. The conversation does not wait for the upload. */
  readonly endsAs: 'ready' | 'uploading'
  /** Opens another voice, for a person who has joined. It is recorded on the agent's side. */
  joiner(): RecordedVoice
  /** Resolves with the recording's length in ms, or with null if it has failed. */
  close(): Promise<number | null>
}

/** Converts mono samples in pieces of any length. The input buffer may be reused after the function returns. */
export interface SampleConverter {
  convert(samples: Int16Array): Int16Array
  close(): void
}
export type OpenResampler = (fromHz: number, toHz: number) => Promise<SampleConverter>

export type ToolFailure = { code: ToolFailureCode; status?: number; detail?: string }
export const toolFailureCodes = [
  'invalid_arguments',
  'timeout',
  'http_error',
  'unreachable',
  'blocked',
  'too_large',
  'not_allowed',
  'failed',
] as const
export type ToolFailureCode = (typeof toolFailureCodes)[number]

export type ToolRequest = {
  callId: string
  tool: PipelineTool
  /** The arguments from the LLM, as parsed JSON. */
  args: unknown
  /** The trace context for the tool call's span. Absent or null if the tool call is not traced. */
  trace?: Trace | null
}
/** `result` is the text for the LLM in its full length; the calling code shortens it. */
export type ToolResult = ({ result: string } | { failure: ToolFailure }) & ToolRequests
/** The status of a webhook's last answer, and how many requests were made. Absent if the tool is not a webhook. */
export type ToolRequests = { httpStatus?: number; attempts?: number }

export interface RunTool {
  /** Returns the errors in `args`, such as `/city is missing`. Empty if `args` fits the tool's schema. */
  check(tool: PipelineTool, args: unknown): readonly string[]
  /** Returns true if an E.164 text can be a phone number. */
  isPhoneNumber(text: string): boolean
  /** Calls a webhook tool. Never rejects. */
  webhook(call: Call, request: ToolRequest): Promise<ToolResult>
  /** Transfers the call. Resolves when the caller is no longer on hold. Never rejects. */
  transfer(call: Call, request: TransferToolRequest): Promise<ToolResult>
}
