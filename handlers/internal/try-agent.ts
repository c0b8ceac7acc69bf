/**
 * Serves the page for talking to an agent. The page's sessions are started with the local API key, as through the
 * platform API.
 */
import type { Agent, AgentStore } from '../../domain/records/agent.ts'
import type { Turn } from '../../domain/records/call.ts'
import { type Caller, type Tenant, tenantOf } from '../../domain/records/organization.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { SessionRequest, StartSession } from '../../domain/sessions/start.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import type { TryAgent, TrySessionRequest, TryTurn } from '../../generated/internal/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { nothingAt } from '../../runtime/http/unknown-path.ts'
import { sayResourceFault } from '../faults/resource-words.ts'
import type { PublicUrlOf } from '../public-url.ts'
import { admitLocal, noStore, pageHeaders, readPage, requireOwnPage, type TryAccess } from './try-access.ts'

export type TryAgentParts = {
  agents: Pick<AgentStore, 'list'>
  sessions: StartSession
  calls: { turns(tenant: Tenant, id: string, afterIndex: number): Promise<readonly Turn[]> }
  publicUrlOf: PublicUrlOf
}

type TryAgentHandlers = Pick<
  InternalHandlers<null>,
  'getTryAgentPage' | 'listTryAgents' | 'createTrySession' | 'listTryTurns'
>

export function tryAgentHandlers(deps: TryAccess & { parts: TryAgentParts | null }): TryAgentHandlers {
  const page = readPage('agent.html', deps)
  return {
    async getTryAgentPage(_request, { peer }) {
      required(deps.parts, '/try/agent')
      return { status: 200, headers: pageHeaders(deps, peer, '/try/agent'), body: await page(peer) }
    },
    async listTryAgents(_request, { peer }) {
      const caller = await admitLocal(deps, peer, '/try/agents')
      const agents = await required(deps.parts, '/try/agents').agents.list(tenantOf(caller))
      return { status: 200, headers: noStore, body: agents.map(wireAgent) }
    },
    async createTrySession({ body }, { peer }) {
      const caller = await admitLocal(deps, peer, '/try/sessions')
      requireOwnPage(peer)
      const parts = required(deps.parts, '/try/sessions')
      const { id, token, url } = await start(parts, caller, sessionRequestOf(body), parts.publicUrlOf(peer))
      return {
        status: 201,
        headers: noStore,
        body: { sessionId: id, transportToken: token, transportUrl: url },
      }
    },
    async listTryTurns({ path: { id } }, { peer }) {
      const path = `/try/sessions/${id}/turns`
      const caller = await admitLocal(deps, peer, path)
      const turns = await required(deps.parts, path).calls.turns(tenantOf(caller), id, -1)
      return { status: 200, headers: noStore, body: turns.map(wireTurn) }
    },
  }
}

function required(parts: TryAgentParts | null, path: string): TryAgentParts {
  if (parts === null) throw nothingAt(path, [])
  return parts
}

/** Starts a session. Resource faults become refusals, because the internal API has no messages for resource faults. */
async function start({ sessions }: TryAgentParts, caller: Caller, request: SessionRequest, publicUrl: string) {
  try {
    return await sessions.start(caller, request, publicUrl)
  } catch (error) {
    if (!(error instanceof ResourceFault)) throw error
    if (error.data.kind === 'not_found') throw nothingAt('/try/sessions', [])
    const { message } = sayResourceFault(error.data)
    throw new Refusal('invalid_parameter', message === undefined ? {} : { message })
  }
}

function sessionRequestOf(wanted: TrySessionRequest): SessionRequest {
  const { agentId, systemPrompt, firstMessage, language, model, voice } = wanted
  return {
    ...(agentId && { agentId }),
    ...(systemPrompt && { systemPrompt }),
    ...(firstMessage && { firstMessage }),
    ...(language && { intent: { language } }),
    ...(model && { llm: { model } }),
    ...(voice && { voice }),
  }
}

function wireAgent({ id, settings }: Agent): TryAgent {
  const { name, systemPrompt, firstMessage = null, intent, llmOptions } = settings
  return { id, name, systemPrompt, firstMessage, language: intent.language, model: llmOptions?.model ?? null }
}

function wireTurn({ id, source, provider, model, ...turn }: Turn): TryTurn {
  const { eouMs, llmTtftMs, ttsTtfbMs, conversationalLatencyMs, latencyStatus } = turn
  return { id, source, provider, model, eouMs, llmTtftMs, ttsTtfbMs, conversationalLatencyMs, latencyStatus }
}
