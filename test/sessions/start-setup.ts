/** Starts sessions without a server: real routes and templates over stubs on a test clock. */
import { createLocalLimits } from '../../domain/access/local-limits.ts'
import type { SecretsByTool } from '../../domain/agents/join-tools.ts'
import type { Agent, AgentSettings } from '../../domain/records/agent.ts'
import type { Call, CallEvent } from '../../domain/records/call.ts'
import { Fault } from '../../domain/records/fault.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { noSecrets, type StoredTool } from '../../domain/records/tool.ts'
import type { PreCallReply } from '../../domain/sessions/pre-call.ts'
import type { SessionRequest } from '../../domain/sessions/start.ts'
import { createStartSession } from '../../domain/sessions/start-session.ts'
import { createTransportTokens } from '../../domain/sessions/transport-token.ts'
import { createSessionRoutes } from '../../domain/speech/session-routes.ts'
import { renderTemplate, templateFault } from '../../runtime/values/template.ts'
import { bench, caller, model, provider } from '../domain/fakes.ts'

export const intent = { language: 'en' }
const capabilities = { ...model('llm').capabilities, tools: true, speed: true }
const english = model('stt', { id: 'english', languages: ['en'] })
const withKeywords = { ...model('stt').capabilities, keywords: true }
const listening = model('stt', { id: 'listens', languages: ['en', 'de'], capabilities: withKeywords })

export function setup(settings: Partial<AgentSettings> | null = null, tools: StoredTool[] = [], hasRooms = false) {
  const providers = ['a', 'b'].map((id) =>
    provider(id, [
      model('stt'),
      ...(id === 'b' ? [listening, english] : []),
      model('llm', { capabilities }),
      model('llm', { id: 'n', languages: ['de'] }),
      model('tts', { capabilities }),
    ]),
  )
  const { deps, clock } = bench(providers, ['a'])
  const calls: Call[] = []
  const secrets: SecretsByTool[] = []
  const state = {
    maxSessions: null as number | null,
    live: 0,
    queued: 0,
    watched: [] as object[],
    reply: null as PreCallReply | null,
    asked: [] as Call[],
    events: [] as CallEvent[],
    calls,
    secrets,
    credit: deps.credit as unknown as { balance: number },
  }
  const agent: Agent | null = settings && {
    id: 'agent_1',
    organizationId: 'org_1',
    test: false,
    settings: { name: 'of a test', systemPrompt: 'x', intent, ...settings },
    webhooks: {},
    version: 1,
    createdAtMs: 0,
    updatedAtMs: 0,
  }
  const warmed: string[] = []
  let ids = 0
  const sessions = createStartSession({
    agents: { find: (_tenant, id) => Promise.resolve(id === agent?.id ? agent : null) },
    tools: { listWithSecrets: () => Promise.resolve(tools) },
    rules: {
      agent: {
        catalog: deps.chooser.world.catalog,
        checkTemplate: (text) => (templateFault(text) ? { kind: 'template_malformed', line: 1, column: 1 } : null),
        pause: () => Promise.resolve(),
      },
      tool: {
        compileSchema: () => null,
        hosts: { placeOf: () => 'public', allowsAny: false, isBadPort: () => false },
        isPhoneNumber: () => true,
      },
      pause: () => Promise.resolve(),
      render: (text, values, system) => {
        const rendered = renderTemplate(text, values, system)
        return Promise.resolve('kind' in rendered ? null : rendered)
      },
    },
    routes: createSessionRoutes(deps.chooser, (stage) => void warmed.push(stage)),
    limits: createLocalLimits(),
    credit: deps.credit,
    organizations: {
      find: () => Promise.resolve({ recordingEnabled: true, maxSessions: state.maxSessions, isDisabled: false }),
    },
    calls: {
      insert: async (call, sealed, events) => {
        await new Promise(setImmediate)
        calls.push(call)
        secrets.push(sealed)
        state.events.push(...events)
        state.queued += 1
      },
      countLive: () => Promise.resolve(state.live),
      countQueued: async () => {
        const { queued } = state
        await new Promise(setImmediate)
        return queued
      },
    },
    preCall: {
      ask: (call) => {
        state.asked.push(call)
        return Promise.resolve(state.reply && { reply: state.reply, durationMs: 12 })
      },
      issuesOf: (error) => {
        if (error instanceof ResourceFault && error.data.kind === 'invalid')
          return error.data.issues.map(({ path, problem }) => {
            return { path: path.map((part) => `/${part}`).join(''), message: 'no', keyword: problem.kind }
          })
        return error instanceof Fault || error instanceof ResourceFault ? [] : null
      },
    },
    tokens: createTransportTokens('x'.repeat(32)),
    rooms: hasRooms
      ? {
          url: 'wss://rooms.example',
          mint: (seat, expiresAtMs) => Promise.resolve(JSON.stringify({ ...seat, expiresAtMs })),
          watch: (room, claims) => void state.watched.push({ room, ...claims }),
        }
      : null,
    clock,
    ids: { session: () => `session_${++ids}` },
    queuedMax: 3,
  })
  return Object.assign(state, {
    warmed,
    start: (wanted: SessionRequest, { test = false } = {}) =>
      sessions.start(caller({}, { test }), wanted, 'http://parley'),
  })
}

export function webhook(name: string, url: string): StoredTool {
  const source = {
    kind: 'webhook' as const,
    url,
    hasSecret: true,
    headers: null,
    authHeaders: null,
    timeoutMs: null,
    responseMode: null,
    asyncAck: null,
  }
  const tool = {
    id: `tool_${name}`,
    organizationId: 'org_1',
    test: false,
    agentId: 'agent_1',
    name,
    description: 'old',
    parameters: null,
    source,
    preToolSpeech: null,
    createdAtMs: 0,
    updatedAtMs: 0,
  }
  return { tool, secrets: { ...noSecrets, secret: 'whsec_old' } }
}
