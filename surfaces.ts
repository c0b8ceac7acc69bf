/** Joins store, providers and configuration to the operations of the domain, and the operations to the five surfaces. */
import { createConvertSpeech } from './audio/encode-output.ts'
import { createEphemeralTokens } from './domain/access/ephemeral.ts'
import { Catalog } from './domain/catalog/catalog.ts'
import type { DispatchDeps } from './domain/dispatch/request.ts'
import { Health } from './domain/health/health.ts'
import { createOperations, type Operations } from './domain/operations.ts'
import type { Provider } from './domain/ports/provider.ts'
import { Chooser } from './domain/routing/chooser.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { mountCompat } from './handlers/compat/surface.ts'
import { mountInternal, type ReadyCheck } from './handlers/internal/surface.ts'
import { mountPlatform } from './handlers/platform/surface.ts'
import { createRealtimeClientSecret } from './handlers/realtime/client-secrets.ts'
import { mountRealtime } from './handlers/realtime/surface.ts'
import { mountRouter } from './handlers/router/surface.ts'
import { vendorNameOf } from './providers/vendors.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import { ConfigError } from './runtime/config.ts'
import type { EngineChoice } from './runtime/engine/choose.ts'
import type { Mount, SocketMount } from './runtime/engine/options.ts'
import type { createLog } from './runtime/log.ts'
import type { createMetrics } from './runtime/metrics.ts'
import { createResampler } from './runtime/optional.ts'
import { isSubnet } from './runtime/outbound/address-guard.ts'
import type { Store } from './store/store.ts'

export type Parts = {
  config: ParleyConfig
  store: Store
  providers: readonly Provider[]
  log: ReturnType<typeof createLog>
  metrics: ReturnType<typeof createMetrics>
  /** Signs ephemeral tokens. */
  masterKey: string
  /** The key of a local run, for the microphone page; null without one. */
  localKey: string | null
  readyChecks: readonly ReadyCheck[]
  engine: EngineChoice
}

export type Surfaces = { mounts: Mount[]; sockets: SocketMount[] }

export function createSurfaces(parts: Parts): Surfaces {
  const { config, log, metrics, store, masterKey, localKey, readyChecks, engine } = parts
  const { headerPrefix, cors, surfaces, region, realtime, limits } = config
  const operations = operationsOf(parts)
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
        tryAgent: null,
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
    ],
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

function operationsOf(parts: Parts): Operations {
  const { openMs, sessionMs: totalMs, pendingBytesMax, aheadMsMax, textCharactersMax } = parts.config.realtime
  return createOperations({
    dispatch: dispatchDeps(parts),
    convert: createConvertSpeech(createResampler),
    transcribeStreams: { openMs, totalMs, pendingBytesMax, aheadMsMax },
    synthesizeStreams: { totalMs, waitingMax: textCharactersMax },
  })
}

function dispatchDeps({ config, store, providers, log, metrics }: Parts): DispatchDeps {
  const { circuit, limits, timeouts } = config
  const health = new Health(systemClock, { model: circuit, credential: { ...circuit, failuresMax: 1 } })
  const loopbacks = config.providers.filter(({ adapter }) => adapter === 'loopback').map(({ id }) => id)
  const catalog = new Catalog(providers, config.aliases)
  const { attemptsMax } = limits
  const { idleMs, speechMs, transcriptionMs } = timeouts
  return {
    clock: systemClock,
    ids: systemIds,
    log,
    metrics,
    health,
    providerKeys: store.providerKeys,
    chooser: new Chooser({ catalog, health, testProviders: new Set(['local', ...loopbacks]) }),
    concurrency: store.limits,
    idempotency: store.idempotency,
    credit: store.credit,
    ledger: store.ledger,
    hedges: config.routing.hedge,
    limits: {
      llm: {
        attemptsMax,
        firstByteMs: timeouts.firstTokenMs,
        idleMs,
        answerMs: timeouts.answerMs,
        totalMs: timeouts.llmMs,
      },
      tts: { attemptsMax, firstByteMs: timeouts.firstAudioMs, idleMs, answerMs: speechMs, totalMs: speechMs },
      stt: { attemptsMax, firstByteMs: transcriptionMs, idleMs, answerMs: transcriptionMs, totalMs: transcriptionMs },
    },
  }
}
