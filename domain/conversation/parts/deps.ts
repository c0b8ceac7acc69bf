/** The interfaces that a conversation is made of. The code that starts it hands them in. */

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
import type { AskedByTool } from '../../records/transfer-request.ts'
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

/** With a guard around each border (guarded.ts). `defect` takes an error of ours that was thrown behind a promise. */
export type GuardedDeps = ConversationDeps & { defect: (error: unknown) => void }

export type ConversationInput = {
  call: Call
  caller: Caller
  /** For the LLM, before the first word. */
  note?: string
  /** The routing of each stage: the pins and filters of the pipeline. */
  routing: Readonly<Record<Stage, Routing>>
  /** A preset that is like the default voice of this route, or null. */
  presetLike: (route: Route) => string | null
  /** Finds the words of the agent that were played, where its voice reports no times. Null: they are estimated. */
  aligner: Aligner | null
  /** The place of the call in its trace. Absent or null: nobody traces calls. */
  trace?: Trace | null
  /** The context of one request to a model on behalf of this call. Each has its own id. Without `trace` it belongs to the call. */
  request: (signal: CancelSignal, trace?: Trace | null) => RequestContext
  /** Null: the call is not recorded. */
  recorder: CallRecorder | null
  /** Null: nobody follows the audio of the caller. */
  observer: CallerObserver | null
  /** Called once, when the record of the call is complete. */
  ended: () => void
}

/** One voice of the recording. */
export interface RecordedVoice {
  /**
   * Mono samples at `recordingRateHz`, which ended at this moment of the monotonic clock. They are lent until it returns.
   * Samples follow each other without a gap while their times differ by less than the tolerance of the voice.
   */
  write(samples: Int16Array, endMs: number): void
  /** The stream was interrupted: the next samples lie exactly where their time says. */
  restart(): void
}

/** See `Recorder`. */
export type CallRecorder = {
  caller: RecordedVoice
  agent: RecordedVoice
  /** `uploading`: the file goes elsewhere when the call is over, and the conversation does not wait for it. */
  readonly endsAs: 'ready' | 'uploading'
  /** The voice of another person, on the side of the agent. */
  joiner(): RecordedVoice
  /** Resolves with the length of the recording, or with null if it has failed. */
  close(): Promise<number | null>
}

/** Converts mono samples of any number; the samples that come in are lent until it returns. */
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
  /** The place of the call of the tool. Absent or null: nobody traces it. */
  trace?: Trace | null
}
/** The text for the LLM: `result` in its full length, it is cut by the calling code. */
export type ToolResult = { result: string } | { failure: ToolFailure }

export interface RunTool {
  /** The faults of `args`, such as `/city is missing`. Empty: they fit the schema of the tool. */
  check(tool: PipelineTool, args: unknown): readonly string[]
  /** Whether a text in E.164 can be the number of a phone. */
  isPhoneNumber(text: string): boolean
  /** Sends a webhook. Never rejects. */
  webhook(call: Call, request: ToolRequest): Promise<ToolResult>
  /** Resolves when the caller is no longer on hold for the transfer. Never rejects. */
  transfer(call: Call, asked: AskedByTool): Promise<ToolResult>
}
