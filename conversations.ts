/** Joins the parts of voice sessions: how they start, who may join, and the conversation itself. */
import { FrameResampler } from './audio/frame-resampler.ts'
import type { Caller, Tenant } from './domain/access/organization.ts'
import { createJournal } from './domain/calls/journal.ts'
import type { LiveCalls } from './domain/calls/live-calls.ts'
import type { Stage } from './domain/catalog/model.ts'
import { startConversation } from './domain/conversation/conversation.ts'
import type { ConversationDeps, ConversationInput } from './domain/conversation/deps.ts'
import type { Paced } from './domain/conversation/playout.ts'
import type { Operations } from './domain/operations.ts'
import { type LiveCall, SessionRegistry } from './domain/sessions/live-sessions.ts'
import { createLiveCalls } from './domain/sessions/reach-calls.ts'
import { routingOfStage } from './domain/sessions/routes.ts'
import type { StartSession } from './domain/sessions/start.ts'
import { createStartSession } from './domain/sessions/start-session.ts'
import { createTransportTokens, type TransportTokens } from './domain/sessions/transport-token.ts'
import { createRunTool } from './domain/tools/run-tool.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { createRules } from './handlers/platform/stored-resources.ts'
import { createLocalVad } from './providers/local/vad-process.ts'
import { createWebhookClient } from './providers/wire/webhook-client.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import { valueFaults } from './runtime/json-value.ts'
import type { createLog } from './runtime/log.ts'
import { Watch } from './runtime/watch.ts'
import type { Store } from './store/store.ts'

export type SessionParts = {
  config: ParleyConfig
  store: Store
  operations: Operations
  /** Called when the end of a call is stored. */
  callEnded: (tenant: Tenant, callId: string) => void
  /** Begins to record a call. Null: it is not recorded. */
  record: (call: LiveCall['call']) => ConversationInput['recorder']
  log: ReturnType<typeof createLog>
  /** Signs transport tokens. */
  masterKey: string
}

export type Sessions = {
  start: StartSession
  live: SessionRegistry
  calls: LiveCalls
  tokens: TransportTokens
  /** Ends what is left. */
  close(): Promise<void>
}

/** Audio is sent at least this often. Frames are 20 ms and may be sent `sessions.aheadMs` early. */
const paceMs = 10
/** Records of calls that are not complete by then are completed by another process. */
const closeMs = 5000

/** Resolves when commands from other processes are received. */
export async function createSessions(parts: SessionParts): Promise<Sessions> {
  const { config, store, operations, callEnded, log, masterKey } = parts
  const { dispatch } = operations
  const { limits, credit, organizations, calls } = store
  const journal = createJournal({ calls, clock: systemClock, log, eventId: systemIds.session, ended: callEnded })
  const vad = createLocalVad({ idleMs: config.local.idleMs, clock: systemClock, log })
  const tokens = createTransportTokens(masterKey)
  const { allowedSubnets } = config.outbound
  const client = createWebhookClient({ guard: { allowedSubnets }, monotonicMs: () => systemClock.monotonicMs() })
  const tools = { client, clock: systemClock, log, valueFaults }
  const deps = conversationDeps(parts, vad)
  const live = new SessionRegistry({
    calls,
    organizations,
    limits,
    clock: systemClock,
    log,
    ownerId: store.instanceId,
    sessionsMax: config.sessions.max,
    reconnectMs: config.sessions.reconnectMs,
    startConversation: (call, caller, transport, ended) => {
      const runTool = createRunTool({ ...tools, secretsOf: (_call, name) => call.secrets[name] })
      const input = inputOf(parts, call, caller, ended)
      return startConversation({ ...deps, runTool }, input, transport, journal.open(call.call))
    },
  })
  const start = createStartSession({
    agents: store.agents,
    tools: store.tools,
    rules: createRules(operations.catalog, allowedSubnets),
    chooser: dispatch.chooser,
    limits,
    credit,
    organizations,
    calls,
    tokens,
    clock: systemClock,
    ids: systemIds,
  })
  await store.callCommands.serve((tenant, callId, { reason }) => live.end(tenant, callId, reason))
  return {
    start,
    live,
    calls: createLiveCalls({ live, calls, commands: store.callCommands }),
    tokens,
    async close() {
      await live.close('server_shutdown', closeMs)
      await Promise.all([vad.close(), client.close()])
    },
  }
}

function conversationDeps(
  { config, operations, log }: SessionParts,
  vad: ConversationDeps['vad'],
): Omit<ConversationDeps, 'runTool'> {
  const { transcribeStream, synthesizeStream, generateItems } = operations
  return {
    clock: systemClock,
    log,
    newId: systemIds.session,
    transcribeStream,
    synthesizeStream,
    generateItems,
    vad,
    openResampler: (fromHz, toHz) => {
      const resampler = new FrameResampler(fromHz, toHz)
      return Promise.resolve({ convert: (samples) => resampler.convert(samples), close: () => {} })
    },
    pacer: new Watch<Paced>(systemClock, paceMs, (member, nowMs) => member.pace(nowMs)),
    aheadMs: config.sessions.aheadMs,
  }
}

function inputOf(
  { operations, record }: SessionParts,
  { call }: LiveCall,
  caller: Caller,
  ended: () => void,
): ConversationInput {
  const routing = (stage: Stage) => routingOfStage(operations.catalog, caller, call.pipeline, stage)
  return {
    call,
    caller,
    routing: { stt: routing('stt'), llm: routing('llm'), tts: routing('tts') },
    request: (signal) => {
      return { caller, requestId: systemIds.request(), operation: 'session', callId: call.id, signal }
    },
    recorder: record(call),
    ended,
  }
}
