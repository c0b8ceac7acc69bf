/** Joins the parts of voice sessions: how they start, who may join, and the conversation itself. */
import { FrameResampler } from './audio/frame-resampler.ts'
import type { Caller } from './domain/access/organization.ts'
import { createJournal } from './domain/calls/journal.ts'
import type { Stage } from './domain/catalog/model.ts'
import { startConversation } from './domain/conversation/conversation.ts'
import type { ConversationDeps, ConversationInput } from './domain/conversation/deps.ts'
import type { Paced } from './domain/conversation/playout.ts'
import type { Vad } from './domain/conversation/vad.ts'
import type { Operations } from './domain/operations.ts'
import { type LiveCall, SessionRegistry } from './domain/sessions/live-sessions.ts'
import { routingOfStage } from './domain/sessions/routes.ts'
import type { StartSession } from './domain/sessions/start.ts'
import { createStartSession } from './domain/sessions/start-session.ts'
import { createTransportTokens, type TransportTokens } from './domain/sessions/transport-token.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { createRules } from './handlers/platform/stored-resources.ts'
import { createLocalVad } from './providers/local/vad-process.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { createLog } from './runtime/log.ts'
import { renderTemplate } from './runtime/template.ts'
import { Watch } from './runtime/watch.ts'
import type { Store } from './store/store.ts'

export type SessionParts = {
  config: ParleyConfig
  store: Store
  operations: Operations
  log: ReturnType<typeof createLog>
  /** Signs transport tokens. */
  masterKey: string
}

export type Sessions = {
  start: StartSession
  live: SessionRegistry
  tokens: TransportTokens
  /** Ends what is left. */
  close(): Promise<void>
}

/** Audio is sent at least this often. Frames are 20 ms and may be sent `sessions.aheadMs` early. */
const paceMs = 10
/** Records of calls that are not complete by then are completed by another process. */
const closeMs = 5000

export function createSessions(parts: SessionParts): Sessions {
  const { config, store, operations, log, masterKey } = parts
  const { dispatch } = operations
  const { limits, credit, organizations, calls } = store
  const journal = createJournal({ calls, clock: systemClock, log, eventId: systemIds.session, ended: () => {} })
  const vad = createLocalVad({ idleMs: config.local.idleMs, clock: systemClock, log })
  const tokens = createTransportTokens(masterKey)
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
    startConversation: (call, caller, transport, ended) =>
      startConversation(deps, inputOf(parts, call, caller, ended), transport, journal.open(call.call)),
  })
  const start = createStartSession({
    agents: store.agents,
    tools: store.tools,
    rules: createRules(operations.catalog, config.outbound.allowedSubnets),
    render: (text, values, system) => {
      const rendered = renderTemplate(text, values, system)
      return 'kind' in rendered ? null : rendered
    },
    chooser: dispatch.chooser,
    limits,
    credit,
    organizations,
    calls,
    tokens,
    clock: systemClock,
    ids: systemIds,
  })
  return {
    start,
    live,
    tokens,
    async close() {
      await live.close('server_shutdown', closeMs)
      await vad.close()
    },
  }
}

function conversationDeps({ config, operations, log }: SessionParts, vad: Vad): ConversationDeps {
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
    runTool: noTools,
    aheadMs: config.sessions.aheadMs,
  }
}

function inputOf(
  { operations }: SessionParts,
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
    ended,
  }
}

const noTools: ConversationDeps['runTool'] = {
  check: () => [],
  webhook: () => Promise.resolve({ failure: { code: 'not_allowed' } }),
}
