/** The report of a call that is over: what the rules say of it, which stands until and unless an LLM has read the call. */
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

/** `heuristic`: the rules alone, because no LLM can be asked. `failed`: an LLM was asked and gave nothing usable. */
export const analysisStatuses = ['pending', 'heuristic', 'completed', 'failed'] as const
export type AnalysisStatus = (typeof analysisStatuses)[number]

export const sentiments = ['positive', 'neutral', 'negative'] as const
export type Sentiment = (typeof sentiments)[number]

export type StructuredData = {
  topics: readonly string[]
  sentiment: Sentiment | null
  resolved: boolean | null
  actionItems: readonly string[]
  /** The caller asked to pass it on. */
  message: string | null
}

/** Values by the names of extraction fields. Null: the call gives no basis for one. */
export type CustomData = Readonly<Record<string, string | number | boolean | null>>

/** All that is read out of a call. */
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

/** The part of a call that the rules look at. */
export type EndedCall = {
  startedAtMs: number | null
  endedAtMs: number | null
  endReason: EndReason | null
  /** The turns of the user. */
  userTurns: number
  agentTurns: number
  /** The agent has promised to call again. */
  hasCallback: boolean
  /** A person has taken the call. It may be ended later for any reason. */
  isTransferred: boolean
  /** The caller has left it with the agent, because nobody could be reached. */
  message?: string | null
  /** The values that stand where no LLM has read the call. */
  emptyData: CustomData
}

/** The report that is stored with the terminal status. A call that was not connected has nothing to read. */
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

/** Without an LLM. The summary holds nothing that was said. */
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

/** These lead to the status `failed` once a call is connected. */
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

/** The part of a call that the rules look at, of its row and its turns. */
export function endedCallOf(
  call: Call,
  sources: readonly { source: 'user' | 'agent' | 'system' }[],
  known: Pick<EndedCall, 'hasCallback' | 'isTransferred'>,
  emptyData: CustomData,
  message: string | null = null,
): EndedCall {
  const count = (wanted: string) => sources.filter(({ source }) => source === wanted).length
  return {
    startedAtMs: call.startedAtMs,
    endedAtMs: call.endedAtMs,
    endReason: call.endReason,
    userTurns: count('user'),
    agentTurns: count('agent'),
    ...known,
    message,
    emptyData,
  }
}
