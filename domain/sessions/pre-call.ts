/**
 * Handles the event `call.pre_call` before a session: an endpoint may change this call's settings. Its answer must obey
 * the rules for requests. If any part breaks a rule, the whole answer is ignored. An endpoint cannot refuse a session.
 */
import type { SecretsByTool } from '../agents/join-tools.ts'
import type { Call, CallEvent } from '../records/call.ts'
import type { Pipeline } from '../records/pipeline.ts'
import type { SessionRequest } from './start.ts'

/** The settings that an answer may change. */
export type PreCallOverrides = Pick<
  SessionRequest,
  | 'intent'
  | 'constraints'
  | 'voice'
  | 'systemPrompt'
  | 'firstMessage'
  | 'llm'
  | 'ttsOptions'
  | 'sttOptions'
  | 'backgroundAudio'
  | 'tools'
  | 'speechNormalization'
  | 'idleRePrompts'
  | 'metadata'
>

/** A broken rule in an answer, described without the answer's content. `path` is a JSON Pointer. */
export type SaidIssue = { path: string; message: string; keyword: string }

export type PreCallReply =
  | { result: 'answered'; overrides: PreCallOverrides }
  | { result: 'empty' | 'timeout' | 'http_error' }
  | { result: 'invalid'; issues: readonly SaidIssue[] }

export interface PreCall {
  /**
   * Sends the event to the endpoint. Resolves with null if no endpoint subscribes to the event. An endpoint's failure
   * never makes the promise reject.
   */
  ask(call: Call): Promise<{ reply: PreCallReply; durationMs: number } | null>
  /** Returns the issues in an error thrown by `remake`, or null if the error is not about settings. */
  issuesOf(error: unknown): readonly SaidIssue[] | null
}

export type SessionSettings = { pipeline: Pipeline; secrets: SecretsByTool; metadata: Record<string, unknown> }

type Deps = { preCall: PreCall; ids: { session: () => string }; clock: { nowMs(): number } }

/**
 * Sends the event to the endpoint and applies the answer. `remake` makes settings from the answer, and throws if they
 * break a rule.
 */
export async function applyPreCall(
  { preCall, ids, clock }: Deps,
  call: Call,
  own: SessionSettings,
  remake: (overrides: PreCallOverrides) => Promise<SessionSettings>,
): Promise<{ settings: SessionSettings; events: CallEvent[] }> {
  const answer = await preCall.ask(call)
  if (answer === null) return { settings: own, events: [] }
  const { reply, durationMs } = answer
  const { settings, result, issues } = await outcomeOf(preCall, reply, own, remake)
  const event: CallEvent = {
    id: ids.session(),
    provider: 'service',
    type: 'webhook.pre_call',
    status: call.status,
    failureCause: null,
    occurredAtMs: clock.nowMs(),
    payload: { result, issues, duration_ms: durationMs },
  }
  return { settings, events: [event] }
}

type Outcome = {
  settings: SessionSettings
  result: Exclude<PreCallReply['result'], 'answered'> | 'applied'
  issues: readonly SaidIssue[]
}

async function outcomeOf(
  preCall: PreCall,
  reply: PreCallReply,
  own: SessionSettings,
  remake: (overrides: PreCallOverrides) => Promise<SessionSettings>,
): Promise<Outcome> {
  if (reply.result === 'invalid') return { settings: own, ...reply }
  if (reply.result !== 'answered') return { settings: own, result: reply.result, issues: [] }
  try {
    return { settings: await remake(reply.overrides), result: 'applied', issues: [] }
  } catch (error) {
    const issues = preCall.issuesOf(error)
    if (issues === null) throw error
    return { settings: own, result: 'invalid', issues }
  }
}

/**
 * Converts the pre-call webhook's answer to a session request, so that the rules for requests can be applied to the
 * answer. The client's request was checked before.
 */
export function asRequest({ agentId, intent, metadata }: SessionRequest, overrides: PreCallOverrides): SessionRequest {
  return {
    ...overrides,
    agentId: agentId ?? null,
    intent: { ...intent, ...overrides.intent },
    metadata: joinMetadata([metadata, overrides.metadata]),
  }
}

/** Merges metadata by key; later metadata takes precedence. If metadata is null, all earlier keys are dropped. */
export function joinMetadata(all: readonly SessionRequest['metadata'][]): Record<string, unknown> {
  return all.reduce<Record<string, unknown>>((whole, each) => (each === null ? {} : { ...whole, ...each }), {})
}
