/** Plans how a call continues if an answering machine answers. */
import type { CheckTemplate } from '../agents/check-agent.ts'
import { Answering, type AnswerPlan } from '../answering/answering.ts'
import type { PhoneLog } from '../calls/journal.ts'
import type { LineName } from '../ports/phone-line.ts'
import type { Clock } from '../ports/system.ts'
import type { Agent } from '../records/agent.ts'
import type { Issue } from '../records/resource-fault.ts'
import { type MessageOf, renderMessage } from '../sessions/render.ts'

export type AnsweringOptions = {
  amd?: { mode?: 'agent' | 'carrier' | 'disabled' | null; timeoutSeconds?: number | null } | null
  /** Missing fields come from the agent. */
  voicemail?: { action?: 'hangup' | 'leave_message'; message?: string } | null
}

const timeoutDefaultS = 10

export function answeringIssues(options: AnsweringOptions | null | undefined, checkTemplate: CheckTemplate): Issue[] {
  const message = options?.voicemail?.message
  const problem = message === undefined ? null : checkTemplate(message)
  return problem === null ? [] : [{ path: ['telephony', 'voicemail', 'message'], problem }]
}

/**
 * Makes the plan. Returns null if the call continues in the same way for a person and a machine. Throws ResourceFault
 * if the message cannot be rendered.
 */
export async function answerPlanOf(
  { amd, voicemail }: AnsweringOptions,
  agent: Agent | null,
  message: Omit<MessageOf, 'text' | 'path'>,
): Promise<AnswerPlan | null> {
  const mode = amd?.mode ?? 'agent'
  if (mode === 'disabled') return null
  const { action = 'hangup', message: text } = voicemail === null ? {} : { ...agent?.settings.voicemail, ...voicemail }
  const path = ['telephony', 'voicemail', 'message']
  return {
    mode,
    timeoutMs: (amd?.timeoutSeconds ?? timeoutDefaultS) * 1000,
    action,
    message: text === undefined || action === 'hangup' ? null : await renderMessage({ ...message, text, path }),
  }
}

/**
 * Replaces the plan for a call over a SIP trunk: the trunk's operator does not detect answering machines, so this
 * server analyses the greeting instead.
 */
export function planOnLine(plan: AnswerPlan | null, line: LineName): AnswerPlan | null {
  return plan?.mode === 'carrier' && line === 'trunk' ? { ...plan, mode: 'agent', isSubstitute: true } : plan
}

/** Makes the detector for a call. The detector writes its result to the call's record. */
export function answeringOf(
  plan: AnswerPlan | undefined,
  clock: Clock,
  record: Pick<PhoneLog, 'line'>,
): Answering | null {
  if (plan === undefined) return null
  const { mode } = plan
  const requestedMode = plan.isSubstitute === true ? { requested_mode: 'carrier' } : {}
  const decided = (result: string, latencyMs: number) =>
    record.line('carrier.machine_detection', { mode, ...requestedMode, result, latency_ms: latencyMs })
  return new Answering(plan, { clock, decided })
}
