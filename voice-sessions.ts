/** Joins the parts of voice sessions: how they start, who may join, and how other processes reach them. */

import { randomUUID } from 'node:crypto'
import { setImmediate as afterOthers } from 'node:timers/promises'
import { type ConversationParts, type Conversations, createConversations } from './conversations.ts'
import { createEndCall, type EndCall } from './domain/calls/end-call.ts'
import { SessionRegistry } from './domain/sessions/live-sessions.ts'
import { createLiveCalls } from './domain/sessions/reach-calls.ts'
import { createSessionRoutes } from './domain/sessions/routes.ts'
import type { StartSession } from './domain/sessions/start.ts'
import { createStartSession } from './domain/sessions/start-session.ts'
import { createTransportTokens, type TransportTokens } from './domain/sessions/transport-token.ts'
import { createWebJoin, type WebJoin } from './domain/sessions/web-join.ts'
import { createFetchHoldAudio } from './domain/transfers/hold-audio.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { createRules } from './handlers/platform/stored-resources.ts'
import { openPhoneSessions, type PhoneSessions, type Telephony } from './phone-sessions.ts'
import { openPreCalls } from './pre-calls.ts'
import { openRoomSessions } from './room-sessions.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import { ConfigError } from './runtime/config.ts'
import { Loops } from './runtime/loops.ts'
import { liveKitPackages, missingPackages } from './runtime/optional.ts'

export type SessionParts = ConversationParts & {
  telephony: Telephony
  /** Signs transport tokens. */
  masterKey: string
}

export type Sessions = {
  start: StartSession
  webJoin: WebJoin
  live: SessionRegistry
  endCall: EndCall
  tokens: TransportTokens
  phone: PhoneSessions
  /** Ends what is left. */
  close(): Promise<void>
}

/** Records of calls that are not complete by then are completed by another process. */
const closeMs = 5000
/** A process that stood still for a while finds out this soon which of its calls another one has ended. */
const lookEveryMs = 2000

const fetchHoldAudioWith = ({ client }: Conversations, log: SessionParts['log']) =>
  createFetchHoldAudio({ client, clock: systemClock, log, pause: () => afterOthers() })

/** Resolves when commands from other processes are received. */
export async function createSessions(parts: SessionParts): Promise<Sessions> {
  const { config, store, operations, log, masterKey, telephony, tracing } = parts
  const { limits, credit, organizations, calls } = store
  const tokens = createTransportTokens(masterKey)
  const conversations = createConversations(parts)
  const routes = createSessionRoutes(operations.dispatch.chooser, conversations.warmUp)
  const live = new SessionRegistry({
    calls,
    routes,
    organizations,
    limits,
    clock: systemClock,
    log,
    ownerId: store.instanceId,
    sessionsMax: config.sessions.max,
    reconnectMs: config.sessions.reconnectMs,
    nodeUrl: config.nodeUrl?.replace(/\/+$/, '') ?? null,
    startConversation: conversations.start,
  })
  const rooms = await openRoomSessions({ config, store, live, log })
  const preCalls = openPreCalls({ config, store, log, tracing })
  const { preCall } = preCalls
  const rules = createRules(operations.catalog, config.outbound.allowedSubnets)
  const start = createStartSession({
    agents: store.agents,
    tools: store.tools,
    rules,
    routes,
    limits,
    credit,
    organizations,
    calls,
    preCall,
    tokens,
    rooms,
    clock: systemClock,
    ids: systemIds,
    queuedMax: config.sessions.queuedMax,
  })
  const { journal } = conversations
  const { prices } = config.carrier
  const shared = { store, telephony, live, prices, routes, rules, preCall, journal, log }
  const phone = openPhoneSessions({ ...shared, fetchHoldAudio: fetchHoldAudioWith(conversations, log) })
  conversations.serve(phone.transferTool)
  await store.callCommands.serve((tenant, callId, command) => {
    if (command.kind === 'joinState') return live.joinState(tenant, callId)
    if (command.kind === 'transfer') return phone.liveTransfers.command(tenant, callId, command.command)
    if (command.kind === 'legEvent') phone.events.take(command.legId, command.line, command.event)
    else live.end(tenant, callId, command.reason, command.clientReason)
    return null
  })
  const loops = new Loops(systemClock, log)
  loops.start(lookAtCalls(live))
  const liveCalls = createLiveCalls({ live, calls, commands: store.callCommands })
  const identity = () => `join_${randomUUID()}`
  return {
    start,
    webJoin: createWebJoin({ calls, live: liveCalls, tokens, clock: systemClock, identity }),
    live,
    endCall: createEndCall(calls, liveCalls),
    tokens,
    phone,
    async close() {
      await loops.stop(closeMs)
      await live.close('server_shutdown', closeMs)
      await Promise.all([rooms?.close(), phone.close()])
      await Promise.all([conversations.close(), preCalls.close()])
    },
  }
}

const lookAtCalls = (live: SessionRegistry) => ({
  name: 'calls that were ended elsewhere or not released',
  everyMs: lookEveryMs,
  run: async () => {
    await live.releaseAgain()
    await live.endOver()
  },
})

/** Throws ConfigError. */
export function checkLiveKit({ livekit: { url, apiKey, apiSecret } }: ParleyConfig): void {
  const isHalf = [url, apiKey, apiSecret].some((value) => value === null) && (url ?? apiKey ?? apiSecret) !== null
  if (isHalf) throw new ConfigError('livekit: url, apiKey and apiSecret belong together; one of them is not set')
  const missing = url === null ? [] : missingPackages(liveKitPackages)
  if (missing.length === 0) return
  throw new ConfigError(`livekit.url: needs packages that are not installed: npm install ${missing.join(' ')}`)
}
