/**
 * Makes an ended call's report from stored facts, such as its end reason and its transfers. If an LLM's analysis
 * succeeds, its findings replace these findings.
 */
import type { Call } from '../records/call.ts'
import type { EndReason } from '../records/states/call.ts'

export const outcomes = [
  'resolved',
  'unresolved',
  'transferred',
  'callback_scheduled',
  'voicemail',
  'no_conversation',
  'not_connected',
  'failed',
  'completed',
] as const
export type Outcome = (typeof outcomes)[number]

/**
 * `heuristic`: the findings come from the call's facts alone, because no LLM could answer. `failed`: an LLM was asked,
 * but gave no usable answer.
 */
export const analysisStatuses = ['pending', 'heuristic', 'completed', 'failed'] as const
export type AnalysisStatus = (typeof analysisStatuses)[number]

export const sentiments = ['positive', 'neutral', 'negative'] as const
export type Sentiment = (typeof sentiments)[number]

export type StructuredData = {
  topics: readonly string[]
  sentiment: Sentiment | null
  resolved: boolean | null
  actionItems: readonly string[]
  /** The message that the caller left for another person. */
  message: string | null
}

/** Values by extraction field. A value is null if the call does not contain it. */
export type CustomData = Readonly<Record<string, string | number | boolean | null>>

/** The results of a call's analysis. */
export type Findings = {
  summary: string
  outcome: Outcome
  /** Null while the analysis is pending. */
  structuredData: StructuredData | null
  customData: CustomData
}

export type Report = Findings & {
  /** Rises with each analysis. */
  version: number
  analysisStatus: AnalysisStatus
  analysisProvider: string | null
  analysisModel: string | null
  analysisError: string | null
  analysisCompletedAtMs: number | null
  createdAtMs: number
  updatedAtMs: number
}

/** The facts about an ended call from which a report is made without an LLM. */
export type EndedCall = {
  startedAtMs: number | null
  endedAtMs: number | null
  endReason: EndReason | null
  userTurns: number
  agentTurns: number
  /** True if the agent has promised a callback. */
  hasCallback: boolean
  /** True if the call was handed to a person, even if it ended later for another reason. */
  isTransferred: boolean
  /** The message that the caller left with the agent after a failed transfer. */
  message?: string | null
  /** The values for the extraction fields if no LLM has read the call. */
  emptyData: CustomData
}

/**
 * Makes the report stored together with the call's terminal status. If the call was connected, the report waits for its
 * analysis. A call that was not connected has nothing to analyse, so its report is final.
 */
export function firstReport(ended: EndedCall, nowMs: number): Report {
  const isRead = ended.startedAtMs !== null
  const ruled = ruledFindings(ended)
  return {
    ...ruled,
    ...(isRead && { summary: '', structuredData: null }),
    version: 1,
    analysisStatus: isRead ? 'pending' : 'heuristic',
    analysisProvider: null,
    analysisModel: null,
    analysisError: null,
    analysisCompletedAtMs: isRead ? null : nowMs,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }
}

/** Returns the findings from the call's facts, without an LLM. The summary contains no spoken words. */
export function ruledFindings(ended: EndedCall): Findings {
  const outcome = ruledOutcome(ended)
  return {
    summary: ruledSummary(ended, outcome),
    outcome,
    structuredData: { topics: [], sentiment: null, resolved: null, actionItems: [], message: ended.message ?? null },
    customData: ended.emptyData,
  }
}

function ruledOutcome({ startedAtMs, endReason, userTurns, hasCallback, isTransferred }: EndedCall): Outcome {
  if (startedAtMs === null) return endReason === 'voicemail' ? 'voicemail' : 'not_connected'
  if (endReason === 'transferred') return 'transferred'
  if (endReason === 'voicemail') return 'voicemail'
  if (endReason !== null && failures.has(endReason)) return 'failed'
  if (isTransferred) return 'transferred'
  if (hasCallback) return 'callback_scheduled'
  return userTurns === 0 ? 'no_conversation' : 'completed'
}

/** If a connected call ends for one of these reasons, its status is `failed`. */
const failures: ReadonlySet<EndReason> = new Set([
  'pipeline_failed',
  'worker_lost',
  'server_shutdown',
  'concurrency_exhausted',
  'not_ready',
  'declined',
  'invalid_number',
  'carrier_error',
])

function ruledSummary(ended: EndedCall, outcome: Outcome): string {
  const { startedAtMs, endedAtMs, endReason, userTurns, agentTurns } = ended
  const because = `The reason of its end was ${endReason ?? 'unknown'}.`
  if (startedAtMs === null) return `The call was not connected. ${because}`
  const seconds = Math.ceil(((endedAtMs ?? startedAtMs) - startedAtMs) / 1000)
  const turns = `The user had ${userTurns} ${turnsOf(userTurns)} and the agent ${agentTurns}.`
  const lasted = `The call lasted ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`
  return outcome === 'no_conversation' ? `${lasted} The user said nothing. ${because}` : `${lasted} ${turns} ${because}`
}

const turnsOf = (count: number) => (count === 1 ? 'turn' : 'turns')

/** Collects the facts for a report from a call's row and its turns. */
export function endedCallOf(
  call: Call,
  sources: readonly { source: 'user' | 'agent' | 'system' }[],
  facts: Pick<EndedCall, 'hasCallback' | 'isTransferred'>,
  emptyData: CustomData,
  message: string | null = null,
): EndedCall {
  const count = (speaker: string) => sources.filter(({ source }) => source === speaker).length
  return {
    startedAtMs: call.startedAtMs,
    endedAtMs: call.endedAtMs,
    endReason: call.endReason,
    userTurns: count('user'),
    agentTurns: count('agent'),
    ...facts,
    message,
    emptyData,
  }
}
