/** The interfaces between a conversation and its surroundings. The code that starts the conversation passes them in. */

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
  /** UUIDv7. */
  newId: () => string
  transcribeStream: TranscribeStream
  synthesizeStream: SynthesizeStream
  generateItems: Pick<Generate<ItemsInput, ItemsAnswer, ItemEvent>, 'stream'>
  vad: Vad
  openResampler: OpenResampler
  pacer: Pacer
  runTool: RunTool
  /** `sessions.aheadMs`. */
  aheadMs: number
}

/** Each border has a guard (guarded.ts). `defect` takes an error from our code, thrown in a promise. */
export type GuardedDeps = ConversationDeps & { defect: (error: unknown) => void }

export type ConversationInput = {
  call: Call
  caller: Caller
  /** A note for the LLM, before the first word. */
  note?: string
  /** The routing for each stage: the pipeline's pins and filters. */
  routing: Readonly<Record<Stage, Routing>>
  /** Returns a preset similar to this route's default voice, or null. */
  presetLike: (route: Route) => string | null
  /** Finds the agent's played words if its voice reports no times. If null, they are estimated. */
  aligner: Aligner | null
  /** The call's place in its trace. Absent or null if calls are not traced. */
  trace?: Trace | null
  /** Creates the context for one request to a model, with a new id. Without `trace` the request belongs to the call. */
  request: (signal: CancelSignal, trace?: Trace | null) => RequestContext
  /** Null if the call is not recorded. */
  recorder: CallRecorder | null
  /** Null if no code follows the caller's audio. */
  observer: CallerObserver | null
  /** Called once, when the call's record is complete. */
  ended: () => void
}

/** One voice in the recording. */
export interface RecordedVoice {
  /**
   * Mono samples at `recordingRateHz`, which ended at this time on the monotonic clock. They are lent until the call
   * returns. Samples follow each other without a gap while their times differ by less than the voice's tolerance.
   */
  write(samples: Int16Array, endMs: number): void
  /** The stream was interrupted, so the next samples are placed exactly at their time. */
  restart(): void
}

/** See `Recorder`. */
export type CallRecorder = {
  caller: RecordedVoice
  agent: RecordedVoice
  /** `uploading`: the file goes elsewhere when the call is over, and the conversation does not wait for it. */
  readonly endsAs: 'ready' | 'uploading'
  /** Another person's voice, on the agent's side. */
  joiner(): RecordedVoice
  /** Resolves with the recording's length in ms, or with null if it has failed. */
  close(): Promise<number | null>
}

/** Converts mono samples in pieces of any length. The input samples are lent until the function returns. */
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
  /** Parsed JSON. */
  args: unknown
  /** The tool call's place in its trace. Absent or null if it is not traced. */
  trace?: Trace | null
}
/** The text for the LLM. `result` has its full length; the calling code cuts it. */
export type ToolResult = { result: string } | { failure: ToolFailure }

export interface RunTool {
  /** The errors in `args`, such as `/city is missing`. Empty if `args` fits the tool's schema. */
  check(tool: PipelineTool, args: unknown): readonly string[]
  /** Whether a text in E.164 can be a phone number. */
  isPhoneNumber(text: string): boolean
  /** Sends a webhook. Never rejects. */
  webhook(call: Call, request: ToolRequest): Promise<ToolResult>
  /** Resolves when the caller is no longer on hold for the transfer. Never rejects. */
  transfer(call: Call, request: TransferToolRequest): Promise<ToolResult>
}
