/** Joins the operations of the domain and the voice sessions to the surfaces. */
import { createSessions, type Sessions } from './conversations.ts'
import { createEphemeralTokens } from './domain/access/ephemeral.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { mountCompat } from './handlers/compat/surface.ts'
import { mountInternal, type ReadyCheck } from './handlers/internal/surface.ts'
import { mountPlatform } from './handlers/platform/surface.ts'
import { createPublicUrl } from './handlers/public-url.ts'
import { createRealtimeClientSecret } from './handlers/realtime/client-secrets.ts'
import { mountRealtime } from './handlers/realtime/surface.ts'
import { mountRouter } from './handlers/router/surface.ts'
import { mountSession } from './handlers/session/surface.ts'
import { type OperationParts, operationsOf } from './model-operations.ts'
import { vendorNameOf } from './providers/vendors.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import { ConfigError } from './runtime/config.ts'
import type { EngineChoice } from './runtime/engine/choose.ts'
import type { Mount, SocketMount } from './runtime/engine/options.ts'
import { isSubnet } from './runtime/outbound/address-guard.ts'

export type Parts = OperationParts & {
  /** Signs ephemeral tokens. */
  masterKey: string
  /** The key of a local run, for the microphone page; null without one. */
  localKey: string | null
  readyChecks: readonly ReadyCheck[]
  engine: EngineChoice
}

export type Surfaces = { mounts: Mount[]; sockets: SocketMount[]; sessions: Sessions }

export function createSurfaces(parts: Parts): Surfaces {
  const { config, log, metrics, store, masterKey, localKey, readyChecks, engine } = parts
  const { headerPrefix, cors, surfaces, region, realtime, limits } = config
  const operations = operationsOf(parts)
  const sessions = createSessions({ config, store, operations, log, masterKey })
  const { start, live, tokens } = sessions
  const { mint, redeem } = createEphemeralTokens({
    masterKey,
    keys: store.keys,
    used: store.usedTokens,
    clock: systemClock,
    tokenId: systemIds.token,
  })
  const count = (code: string) => metrics.refusal(code)
  const at = (host: string | null) => ({ host, headerPrefix, corsOrigins: cors.origins, log, count })
  const durationMaxMs = limits.audioDurationMaxS * 1000
  const { configMs, silenceMs, commitMs, textCharactersMax } = realtime
  return {
    mounts: [
      mountInternal(at(null), {
        readyChecks,
        engine,
        ranking: { ...config.circuit, hedges: config.routing.hedge },
        caller: () => (localKey === null ? null : store.keys.verify(localKey)),
        mint,
        preview: operations.preview,
        isOpen: config.try,
        contracts: contractsAtAnyHost(config.surfaces),
        tryAgent: {
          agents: store.agents,
          sessions: start,
          calls: store.callRecord,
          publicUrlOf: createPublicUrl(config),
        },
      }),
      mountRouter(at(surfaces.routerHost), { operations, region, durationMaxMs }),
      mountCompat(at(surfaces.compatHost), {
        operations,
        mint,
        clientSecret: createRealtimeClientSecret(mint),
        realtimeHost: surfaces.realtimeHost,
        durationMaxMs,
        wavBytesMax: limits.answerBytesMax,
        nativeStreams: config.complete.streams,
        startedS: Math.floor(systemClock.nowMs() / 1000),
      }),
      mountPlatform(at(surfaces.platformHost), {
        catalog: operations.catalog,
        keys: store.providerKeys,
        vendorName: (provider) => vendorNameOf(provider, config.providers),
        requestRoutes: store.requestRoutes,
        organizations: store.organizations,
        stores: store,
        clock: systemClock,
        ids: systemIds,
        agentsMax: limits.agentsMax,
        allowedSubnets: config.outbound.allowedSubnets,
        address: config,
        sessions: start,
      }),
    ],
    sockets: [
      mountRealtime(at(surfaces.realtimeHost), {
        operations,
        keys: store.keys,
        redeem,
        clock: systemClock,
        region,
        times: { configMs, silenceMs },
        commitMs,
        textCharactersMax,
        sessionId: systemIds.session,
      }),
      mountSession(at(surfaces.platformHost), { tokens, keys: store.keys, sessions: live, clock: systemClock }),
    ],
    sessions,
  }
}

/** Throws ConfigError. */
export function checkSubnets({ outbound }: ParleyConfig): void {
  const wrong = outbound.allowedSubnets.find((text) => !isSubnet(text))
  if (wrong === undefined) return
  throw new ConfigError(`outbound.allowedSubnets: ${wrong} is no range such as 10.0.0.0/8`)
}

/** A surface with a separate host serves its contract there alone. */
function contractsAtAnyHost({ routerHost, compatHost, platformHost }: ParleyConfig['surfaces']): string[] {
  return [
    ...(routerHost === null ? ['/router/openapi.json'] : []),
    ...(compatHost === null ? ['/openapi/compat.json', '/asyncapi/realtime.json'] : []),
    ...(platformHost === null ? ['/openapi/platform.json'] : []),
  ]
}
