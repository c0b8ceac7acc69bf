/** Joins the operations of the domain and the voice sessions to the surfaces. */
import { type CallRecords, createCallRecords } from './call-records.ts'
import { createEphemeralTokens, type EphemeralTokens } from './domain/access/ephemeral.ts'
import type { Operations } from './domain/operations.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { mountCarrierStreams } from './handlers/carrier/streams.ts'
import { mountCompat } from './handlers/compat/surface.ts'
import { mountInternal, type ReadyCheck } from './handlers/internal/surface.ts'
import { linkedRecordings } from './handlers/platform/linked-recording.ts'
import { mountPlatform } from './handlers/platform/surface.ts'
import { createPublicUrl } from './handlers/public-url.ts'
import { createRealtimeClientSecret } from './handlers/realtime/client-secrets.ts'
import { mountRealtime } from './handlers/realtime/surface.ts'
import { mountRouter } from './handlers/router/surface.ts'
import { mountSession } from './handlers/session/surface.ts'
import type { SurfaceSettings } from './handlers/surface.ts'
import { type OperationParts, operationsOf } from './model-operations.ts'
import { type OpenLines, openPhoneLines } from './phone-lines.ts'
import { type OpenNumbers, openPhoneNumbers } from './phone-numbers.ts'
import { vendorNameOf } from './providers/vendors.ts'
import { type OpenMessages, openRichMessages } from './rich-messages.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { EngineChoice } from './runtime/engine/choose.ts'
import type { Mount, SocketMount } from './runtime/engine/options.ts'
import { createSessions, type Sessions } from './voice-sessions.ts'
import { openDeliveries, type WebhookDeliveries } from './webhook-deliveries.ts'

export type Parts = OperationParts & {
  /** Signs ephemeral tokens. */
  masterKey: string
  /** The key of a local run, for the microphone page; null without one. */
  localKey: string | null
  readyChecks: readonly ReadyCheck[]
  engine: EngineChoice
}

export type Surfaces = {
  mounts: Mount[]
  sockets: SocketMount[]
  sessions: Sessions
  records: CallRecords
  webhooks: WebhookDeliveries
  phoneLines: OpenLines
  phoneNumbers: OpenNumbers
  richMessages: OpenMessages
}

/** Everything that the mounts share. */
type Joined = Parts & {
  operations: Operations
  sessions: Sessions
  records: CallRecords
  webhooks: WebhookDeliveries
  phoneLines: OpenLines
  phoneNumbers: OpenNumbers
  richMessages: OpenMessages
  ephemeral: EphemeralTokens
  settings: SettingsAt
}
/** The settings of a surface at its host; null is any host. */
type SettingsAt = (host: string | null) => SurfaceSettings

export async function createSurfaces(parts: Parts): Promise<Surfaces> {
  const { config, log, metrics, store, masterKey, tracing } = parts
  const operations = operationsOf(parts)
  const { providers } = parts
  const { sipConnections: connections, trunkDialogs: dialogs, instanceId: ownerId } = store
  const phoneLines = openPhoneLines({ config, masterKey, providers, connections, dialogs, log, ownerId })
  const { lines, legs: media } = phoneLines
  const telephony = { lines, media, numbers: store.phoneNumbers, countIgnored: metrics.carrierEventIgnored }
  const records = await createCallRecords({ config, store, operations, masterKey, log, metrics, tracing })
  const sessions = await createSessions({
    config,
    store,
    operations,
    callEnded: (tenant, callId) => records.reports.begin(tenant, callId),
    record: records.record,
    telephony,
    log,
    masterKey,
    metrics,
    tracing,
  })
  records.serve(sessions.phone.placeCallback)
  const ephemeral = createEphemeralTokens({
    masterKey,
    keys: store.keys,
    used: store.usedTokens,
    clock: systemClock,
    tokenId: systemIds.token,
  })
  const { headerPrefix, cors } = config
  const count = (code: string) => metrics.refusal(code)
  const settings: SettingsAt = (host) => ({ host, headerPrefix, corsOrigins: cors.origins, log, count })
  const webhooks = await openDeliveries({ config, store, log, metrics, tracing })
  const phoneNumbers = openPhoneNumbers({ config, store, simulator: phoneLines.simulator, log })
  const { simulator, localUrl } = phoneLines
  const richMessages = openRichMessages({ config, masterKey, store, simulator, localUrl, tracing })
  const opened = { phoneLines, phoneNumbers, richMessages, sessions, records, webhooks }
  const joined = { ...parts, ...opened, operations, ephemeral, settings }
  return {
    mounts: [...internalOf(joined), routerOf(joined), compatOf(joined), platformOf(joined)],
    sockets: [realtimeOf(joined), sessionOf(joined), carrierOf(joined)],
    ...opened,
  }
}

function internalOf({
  config,
  store,
  operations,
  sessions,
  ephemeral,
  settings,
  phoneLines,
  ...parts
}: Joined): Mount[] {
  const { localKey, readyChecks, engine, records, richMessages } = parts
  return mountInternal(settings(null), {
    readyChecks,
    engine,
    ranking: { ...config.circuit, hedges: config.routing.hedge },
    caller: () => (localKey === null ? null : store.keys.verify(localKey)),
    mint: ephemeral.mint,
    preview: operations.preview,
    isOpen: config.try,
    contracts: contractsAtAnyHost(config.surfaces),
    recordings: linkedRecordings(settings(null), records.recordings),
    carrier: {
      readers: phoneLines.readers,
      events: sessions.phone.events,
      countIgnored: parts.metrics.carrierEventIgnored,
    },
    messages: richMessages,
    simulator: config.publicUrl === null ? phoneLines.simulator.control : null,
    tryAgent: {
      agents: store.agents,
      sessions: sessions.start,
      calls: store.callRecord,
      publicUrlOf: createPublicUrl(config),
    },
  })
}

function routerOf({ config, operations, settings }: Joined): Mount {
  const { region, limits, surfaces } = config
  const durationMaxMs = limits.audioDurationMaxS * 1000
  return mountRouter(settings(surfaces.routerHost), { operations, region, durationMaxMs })
}

function compatOf({ config, operations, ephemeral: { mint }, settings }: Joined): Mount {
  const { surfaces, limits, complete } = config
  return mountCompat(settings(surfaces.compatHost), {
    operations,
    mint,
    clientSecret: createRealtimeClientSecret(mint),
    realtimeHost: surfaces.realtimeHost,
    durationMaxMs: limits.audioDurationMaxS * 1000,
    wavBytesMax: limits.answerBytesMax,
    nativeStreams: complete.streams,
    startedS: Math.floor(systemClock.nowMs() / 1000),
  })
}

function platformOf({ config, store, operations, sessions, records, settings, ...parts }: Joined): Mount {
  const { webhooks, phoneNumbers } = parts
  return mountPlatform(settings(config.surfaces.platformHost), {
    catalog: operations.catalog,
    keys: store.providerKeys,
    vendorName: (provider) => vendorNameOf(provider, config.providers),
    requestRoutes: store.requestRoutes,
    creditAccounts: store.creditAccounts,
    keyBudgets: store.keyBudgets,
    usage: store.usage,
    organizations: store.organizations,
    webhookSecrets: store.webhookSecrets,
    stores: { ...store, verification: phoneNumbers.verifications },
    ...phoneNumbers,
    savedBrand: async (organizationId) => {
      const { brand } = await store.smsRegistrations.find({ organizationId, test: false })
      return brand?.profile ?? null
    },
    sipUri: parts.phoneLines.sipUri,
    clock: systemClock,
    ids: systemIds,
    agentsMax: config.limits.agentsMax,
    allowedSubnets: config.outbound.allowedSubnets,
    address: config,
    sessions: sessions.start,
    dial: sessions.phone.dial,
    repeats: { idempotency: store.idempotency, answers: store.keptAnswers },
    webhooks,
    messages: parts.richMessages,
    records: {
      ...records,
      endCall: sessions.endCall,
      webJoin: sessions.webJoin,
      transfers: sessions.phone.transfers,
    },
  })
}

function realtimeOf({ config, store, operations, ephemeral: { redeem }, settings }: Joined): SocketMount {
  const { configMs, silenceMs, commitMs, textCharactersMax } = config.realtime
  return mountRealtime(settings(config.surfaces.realtimeHost), {
    operations,
    keys: store.keys,
    redeem,
    clock: systemClock,
    region: config.region,
    times: { configMs, silenceMs },
    commitMs,
    textCharactersMax,
    sessionId: systemIds.session,
  })
}

function sessionOf({ config, store, sessions: { live, tokens }, settings, tracing: traces }: Joined): SocketMount {
  const host = config.surfaces.platformHost
  return mountSession(settings(host), { tokens, keys: store.keys, sessions: live, clock: systemClock, traces })
}

function carrierOf({ phoneLines, settings }: Joined): SocketMount {
  return mountCarrierStreams(settings(null), { legs: phoneLines.legs, clock: systemClock })
}

/** A surface with a separate host serves its contract there alone. */
function contractsAtAnyHost({ routerHost, compatHost, platformHost }: ParleyConfig['surfaces']): string[] {
  return [
    ...(routerHost === null ? ['/router/openapi.json'] : []),
    ...(compatHost === null ? ['/openapi/compat.json', '/asyncapi/realtime.json'] : []),
    ...(platformHost === null ? ['/openapi/platform.json', '/asyncapi/session.json'] : []),
  ]
}
