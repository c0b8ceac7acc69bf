/**
 * The event before a session: an endpoint may change the settings of this one call. Its answer is bound by the rules of a
 * request, and one that breaks a rule is void as a whole. No answer refuses a session.
 */
import type { SecretsByTool } from '../agents/join-tools.ts'
import type { Call, CallEvent } from '../records/call.ts'
import type { Pipeline } from '../records/pipeline.ts'
import type { WantedSession } from './start.ts'

/** The settings that an answer may change. */
export type PreCallOverrides = Pick<
  WantedSession,
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

/** One place of an answer that breaks a rule, in words that have no content. `path` is a JSON Pointer. */
export type SaidIssue = { path: string; message: string; keyword: string }

export type PreCallReply =
  | { result: 'answered'; overrides: PreCallOverrides }
  | { result: 'empty' | 'timeout' | 'http_error' }
  | { result: 'invalid'; issues: readonly SaidIssue[] }

export interface PreCall {
  /** Null: no endpoint asks for it. Never rejects for what an endpoint does. */
  ask(call: Call): Promise<{ reply: PreCallReply; durationMs: number } | null>
  /** Null: `error` says nothing about settings. */
  issuesOf(error: unknown): readonly SaidIssue[] | null
}

/** All that a session is made with. */
export type SessionSettings = { pipeline: Pipeline; secrets: SecretsByTool; metadata: Record<string, unknown> }

type Deps = { preCall: PreCall; ids: { session: () => string }; clock: { nowMs(): number } }

/** `remake` makes the settings with those of an answer. It throws where they break a rule. */
export async function applyPreCall(
  { preCall, ids, clock }: Deps,
  call: Call,
  own: SessionSettings,
  remake: (overrides: PreCallOverrides) => Promise<SessionSettings>,
): Promise<{ settings: SessionSettings; events: CallEvent[] }> {
  const asked = await preCall.ask(call)
  if (asked === null) return { settings: own, events: [] }
  const { reply, durationMs } = asked
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

/** An answer as the rules for a request look at it. The request has been looked at. */
export function asRequest({ agentId, intent, metadata }: WantedSession, overrides: PreCallOverrides): WantedSession {
  return {
    ...overrides,
    agentId: agentId ?? null,
    intent: { ...intent, ...overrides.intent },
    metadata: joinMetadata([metadata, overrides.metadata]),
  }
}

/** By key, later ones first. null takes back what was before it. */
export function joinMetadata(all: readonly WantedSession['metadata'][]): Record<string, unknown> {
  return all.reduce<Record<string, unknown>>((whole, each) => (each === null ? {} : { ...whole, ...each }), {})
}
