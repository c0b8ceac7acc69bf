/**
 * Mounts a serving process's APIs (router, OpenAI-compatible, platform, realtime and others): HTTP mounts and sockets
 * that use the process's capabilities.
 */
import { fileURLToPath } from 'node:url'
import { createEphemeralTokens, type EphemeralTokens } from '../domain/access/ephemeral.ts'
import { createCheckProvider } from '../domain/dispatch/check-provider.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import { withAudit } from '../handlers/audit/audited.ts'
import type { Denials } from '../handlers/audit/denials.ts'
import { mountCarrierStreams } from '../handlers/carrier/streams.ts'
import { mountCompat } from '../handlers/compat/surface.ts'
import { mountInternal, type ReadyCheck } from '../handlers/internal/surface.ts'
import { withFamilyRequests } from '../handlers/platform/family-requests.ts'
import { withFamilyRows } from '../handlers/platform/family-rows.ts'
import { statusOf } from '../handlers/platform/faults.ts'
import { linkedRecordings } from '../handlers/platform/linked-recording.ts'
import { mountPlatform } from '../handlers/platform/surface.ts'
import { createPublicUrl } from '../handlers/public-url.ts'
import { createRealtimeClientSecret } from '../handlers/realtime/client-secrets.ts'
import { mountRealtime } from '../handlers/realtime/surface.ts'
import { mountRouter } from '../handlers/router/surface.ts'
import { mountSession } from '../handlers/session/surface.ts'
import type { SurfaceSettings } from '../handlers/surface.ts'
import { vendorNameOf } from '../providers/vendors/vendors.ts'
import type { Mount, SocketMount } from '../runtime/engine/options.ts'
import { buildFolder, packageFile } from '../runtime/package-file.ts'
import type { EngineChoice } from '../runtime/server/choose.ts'
import type { App } from './app.ts'
import type { Capabilities } from './capabilities.ts'
import { clientsOf } from './clients.ts'
import { type Console, createConsole } from './console.ts'
import { createResources } from './resources.ts'
import { sipUriOf } from './trunks.ts'

export type Serving = {
  /** The API key from the first local run, for the page `/try` with the microphone. Null if there is no such key. */
  localKey: string | null
  readyChecks: readonly ReadyCheck[]
  engine: EngineChoice
  denials: Denials
}

type Joined = App & Capabilities & Serving & { ephemeral: EphemeralTokens; settings: SettingsAt; console: Console }
/** Returns an API's settings at its host; null is any host. */
type SettingsAt = (host: string | null) => SurfaceSettings

export function createSurfaces(
  app: App,
  capabilities: Capabilities,
  serving: Serving,
): { mounts: Mount[]; sockets: SocketMount[] } {
  const { config, log, metrics, store, clock, ids, secrets } = app
  const ephemeral = createEphemeralTokens({
    masterKey: secrets.masterKey,
    keys: store.keys,
    used: store.usedTokens,
    clock,
    tokenId: ids.token,
  })
  const { cors } = config
  const { headerPrefix } = clientsOf(config)
  const count = (code: string) => metrics.refusal(code)
  const settings: SettingsAt = (host) => ({ host, headerPrefix, corsOrigins: cors.origins, log, count })
  const joined = { ...app, ...capabilities, ...serving, ephemeral, settings, console: createConsole(app) }
  return {
    mounts: [...internalOf(joined), routerOf(joined), compatOf(joined), platformOf(joined)],
    sockets: [realtimeOf(joined), sessionOf(joined), carrierOf(joined)],
  }
}

/**
 * Returns the folder with the console's program. If this process runs from the sources, the last build's program is
 * served.
 */
const consoleFolder = () =>
  import.meta.url.endsWith('.ts') ? fileURLToPath(packageFile('dist/console')) : buildFolder('console')

function internalOf(joined: Joined): Mount[] {
  const { config, store, metrics, operations, sessions, ephemeral, settings, lines, simulator } = joined
  const { localKey, readyChecks, engine, records, messages, console } = joined
  return mountInternal(settings(null), {
    readyChecks,
    engine,
    docsFolder: buildFolder('docs'),
    consoleFolder: consoleFolder(),
    ranking: { ...config.circuit, hedges: config.routing.hedge },
    caller: () => (localKey === null ? null : store.keys.verify(localKey)),
    mint: ephemeral.mint,
    preview: operations.preview,
    isOpen: config.try,
    contracts: contractsAtAnyHost(config.surfaces),
    recordings: linkedRecordings(settings(null), records.recordings),
    carrier: { readers: lines.readers, events: sessions.phone.events, countIgnored: metrics.carrierEventIgnored },
    messages,
    simulator: config.publicUrl === null ? simulator.control : null,
    console,
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

function compatOf({ config, clock, operations, ephemeral: { mint }, settings }: Joined): Mount {
  const { surfaces, limits } = config
  return mountCompat(settings(surfaces.compatHost), {
    operations,
    mint,
    clientSecret: createRealtimeClientSecret(mint),
    realtimeHost: surfaces.realtimeHost,
    durationMaxMs: limits.audioDurationMaxS * 1000,
    wavBytesMax: limits.answerBytesMax,
    nativeStreams: clientsOf(config).nativeStreams,
    publicUrlOf: createPublicUrl(config),
    startedS: Math.floor(clock.nowMs() / 1000),
  })
}

/** Only this API has audited operations. */
function platformOf(joined: Joined): Mount {
  const { store, clock, log, denials } = joined
  return withAudit(unauditedPlatformOf(joined), { audit: store.audit, clock, log, denials, statusOf })
}

function unauditedPlatformOf(joined: Joined): Mount {
  const { config, store, revocations, clock, log, operations, sessions, records, callbacks, numbers, settings } = joined
  const { catalog } = operations
  const { start, phone, phones, endCall, webJoin } = sessions
  return mountPlatform(settings(config.surfaces.platformHost), {
    ...store,
    stores: store,
    watchGrant: revocations.watch,
    catalog,
    keys: store.providerKeys,
    checkProvider: createCheckProvider({
      catalog,
      keys: store.providerKeys,
      attempts: store.signInAttempts,
      clock,
      log,
    }),
    apiKeys: store.keys,
    health: joined.health,
    vendorName: (provider) => vendorNameOf(provider, config.providers),
    resources: createResources(joined, { catalog, numbers, trunks: joined.lines.trunks }),
    verifications: numbers.verifications,
    smsRegistrations: numbers.smsRegistrations,
    savedBrand: async (organizationId) => {
      const { brand } = await store.smsRegistrations.find({ organizationId, test: false })
      return brand?.profile ?? null
    },
    sipUri: sipUriOf(config),
    clock,
    address: config,
    adapt: (parts) =>
      clientsOf(config).isFamily
        ? { surface: withFamilyRequests(parts.surface), handlers: withFamilyRows(parts.handlers, clock) }
        : parts,
    sessions: start,
    dial: phone.dial,
    repeats: { idempotency: store.idempotency, answers: store.storedAnswers },
    webhooks: joined.webhooks,
    messages: joined.messages,
    invitations: joined.console.invitations,
    records: { ...records, callbacks, endCall, webJoin, transfers: phones.transfers },
  })
}

function realtimeOf(joined: Joined): SocketMount {
  const { config, store, owners, revocations, clock, ids, operations, ephemeral, settings } = joined
  const { configMs, silenceMs, commitMs, textCharactersMax } = config.realtime
  return mountRealtime(settings(config.surfaces.realtimeHost), {
    operations,
    keys: store.keys,
    owners,
    redeem: ephemeral.redeem,
    watchGrant: revocations.watch,
    clock,
    region: config.region,
    times: { configMs, silenceMs },
    commitMs,
    textCharactersMax,
    sessionId: ids.session,
  })
}

function sessionOf({ config, store, owners, revocations, clock, sessions, settings, tracing }: Joined): SocketMount {
  const { live, tokens } = sessions
  return mountSession(settings(config.surfaces.platformHost), {
    tokens,
    keys: store.keys,
    sessions: live,
    owners,
    watchGrant: revocations.watch,
    clock,
    traces: tracing,
  })
}

function carrierOf({ lines, clock, settings }: Joined): SocketMount {
  return mountCarrierStreams(settings(null), { legs: lines.legs, clock })
}

/** Lists the contracts served at every host. If an API has a separate host, its contract is served only there. */
function contractsAtAnyHost({ routerHost, compatHost, platformHost }: ParleyConfig['surfaces']): string[] {
  return [
    ...(routerHost === null ? ['/router/openapi.json'] : []),
    ...(compatHost === null ? ['/openapi/compat.json', '/asyncapi/realtime.json'] : []),
    ...(platformHost === null ? ['/openapi/platform.json', '/asyncapi/session.json'] : []),
  ]
}
