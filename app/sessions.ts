/** Voice sessions: starting and joining them, and commands from other processes. */
import { setImmediate as afterOthers } from 'node:timers/promises'
import { createEndCall, type EndCall } from '../domain/calls/end-call.ts'
import { createJournal } from '../domain/calls/journal.ts'
import { CallRegistry } from '../domain/calls/live/call-registry.ts'
import type { TakePlace } from '../domain/calls/live/places.ts'
import { createLiveCalls } from '../domain/calls/live/reach-calls.ts'
import type { Operations } from '../domain/operations.ts'
import type { StartSession } from '../domain/sessions/start.ts'
import { createStartSession } from '../domain/sessions/start-session.ts'
import { createTransportTokens, type TransportTokens } from '../domain/sessions/transport-token.ts'
import { createWebJoin, type WebJoin } from '../domain/sessions/web-join.ts'
import { createSessionRoutes, type SessionRoutes } from '../domain/speech/session-routes.ts'
import { createFetchHoldAudio } from '../domain/transfers/hold-audio.ts'
import { createWebhookClient } from '../providers/wire/webhook-client.ts'
import { Capacity } from '../runtime/shares/capacity.ts'
import { Loops } from '../runtime/timing/loops.ts'
import type { App } from './app.ts'
import type { CallRecords } from './calls.ts'
import { type Conversations, createConversations } from './conversations.ts'
import type { Engines } from './engines.ts'
import type { Lines } from './lines.ts'
import { createPhoneSessions, openPhones, type PhoneSessions, type Phones } from './phone.ts'
import { createRules } from './resources.ts'
import { openRooms } from './rooms.ts'
import type { Webhooks } from './webhooks.ts'

type Needs = {
  operations: Operations
  records: CallRecords
  lines: Lines
  vad: Engines['vad']
  webhooks: Webhooks
}

export type Sessions = {
  start: StartSession
  webJoin: WebJoin
  live: CallRegistry
  endCall: EndCall
  tokens: TransportTokens
  phones: Phones
  phone: PhoneSessions
}

/** The longest wait for incomplete call records. Another process then completes them. */
const closeMs = 5000
/** The interval for finding calls that another process has ended, because it considered this process dead. */
const lookEveryMs = 2000

/**
 * Opens the sessions. Resolves when this process receives commands from other processes. All remaining sessions end
 * with the process.
 */
export async function openSessions(app: App, needs: Needs): Promise<Sessions> {
  const { operations, lines, webhooks } = needs
  const { config, store, clock, ids } = app
  const { calls } = store
  const rules = createRules(operations.catalog, config.outbound.allowedSubnets)
  const { phones, conversations } = openConversations(app, needs, rules)
  const routes = createSessionRoutes(operations.dispatch.chooser, conversations.warmUp)
  const live = createRegistry(app, conversations, routes)
  const rooms = await openRooms(app, live)
  tend(app, live)
  const tokens = createTransportTokens(app.secrets.masterKey)
  const { preCall } = webhooks
  const { agents, tools, limits, credit, organizations } = store
  const stored = { agents, tools, limits, credit, organizations, calls }
  const { queuedMax } = config.sessions
  const start = createStartSession({ ...stored, rules, routes, preCall, tokens, rooms, clock, ids, queuedMax })
  const phone = createPhoneSessions(app, { lines, phones, live, routes, rules, preCall })
  await receiveCommands(app, { live, phones, phone })
  const liveCalls = createLiveCalls({ live, calls, commands: store.callCommands })
  return {
    start,
    webJoin: createWebJoin({ calls, live: liveCalls, tokens, clock, identity: ids.participant }),
    live,
    endCall: createEndCall(calls, liveCalls),
    tokens,
    phones,
    phone,
  }
}

/** The maximum number of tool servers (scheme, host and port) with connections kept open. */
const lanesMax = 512

function openConversations(
  app: App,
  { operations, records, lines, vad }: Needs,
  rules: ReturnType<typeof createRules>,
): { phones: Phones; conversations: Conversations } {
  const { config, clock, log } = app
  const { allowedSubnets, toolConnectionsMax: connectionsMax } = config.outbound
  const client = createWebhookClient({ guard: { allowedSubnets }, clock, connectionsMax, addressesMax: lanesMax })
  app.closing(() => client.close())
  const journal = journalOf(app, records)
  const fetchHoldAudio = createFetchHoldAudio({ client, clock, log, pause: () => afterOthers() })
  const phones = openPhones(app, { lines, journal, fetchHoldAudio, rules })
  const { record } = records
  const { transferTool } = phones
  return { phones, conversations: createConversations(app, { operations, vad, journal, client, record, transferTool }) }
}

function journalOf({ store, clock, ids, log, metrics, tracing }: App, { reports }: CallRecords) {
  return createJournal({
    calls: store.calls,
    clock,
    log,
    eventId: ids.session,
    callbackId: ids.callback,
    ended: (tenant, callId) => reports.begin(tenant, callId),
    traces: tracing,
    metrics,
  })
}

function createRegistry(app: App, conversations: Conversations, routes: SessionRoutes): CallRegistry {
  const { config, store, clock, log } = app
  const { calls, organizations, limits, instanceId: ownerId } = store
  return new CallRegistry({
    calls,
    routes,
    organizations,
    limits,
    clock,
    log,
    ownerId,
    takePlace: placesOf(app),
    reconnectMs: config.sessions.reconnectMs,
    nodeUrl: config.nodeUrl?.replace(/\/+$/, '') ?? null,
    startConversation: conversations.start,
  })
}

/**
 * Divides the process's sessions among the organizations. An inbound call has no authentication, so `owners` records
 * its organization here.
 */
function placesOf({ config, owners }: App): TakePlace {
  const capacity = new Capacity({ max: config.sessions.max, part: config.limits.organizationShare }, owners)
  return (organizationId) => {
    owners.see(organizationId)
    const place = capacity.take(organizationId)
    return place === null ? null : () => place.end()
  }
}

/**
 * Ends the live sessions when the process ends, while their rooms and lines still work, so clients learn the reason.
 */
function tend(app: App, live: CallRegistry): void {
  const { clock, log } = app
  app.closing(() => live.close('server_shutdown', closeMs))
  const loops = new Loops(clock, log)
  app.closing(() => loops.stop(closeMs))
  loops.start({
    name: 'calls that were ended elsewhere or not released',
    everyMs: lookEveryMs,
    run: async () => {
      await live.releaseAgain()
      await live.endOver()
    },
  })
}

type Receivers = Pick<Sessions, 'live' | 'phones' | 'phone'>

function receiveCommands({ store }: App, { live, phones, phone }: Receivers): Promise<void> {
  return store.callCommands.listen((tenant, callId, command) => {
    if (command.kind === 'joinState') return live.joinState(tenant, callId)
    if (command.kind === 'transfer') return phones.liveTransfers.command(tenant, callId, command.command)
    if (command.kind === 'legEvent') phone.events.take(command.legId, command.line, command.event)
    else live.end(tenant, callId, command.reason, command.clientReason)
    return null
  })
}
