/** What the server serves: each surface's contract joined with its handlers, over one set of domain operations. */
import { createConvertSpeech } from './audio/encode-output.ts'
import { createEphemeralTokens, type EphemeralTokens } from './domain/access/ephemeral.ts'
import type { Caller } from './domain/access/organization.ts'
import { Catalog } from './domain/catalog/catalog.ts'
import type { DispatchDeps } from './domain/dispatch/request.ts'
import { Health } from './domain/health/health.ts'
import { createGenerate } from './domain/llm/generate.ts'
import { itemsTranslation } from './domain/llm/items.ts'
import type { Provider } from './domain/ports/provider.ts'
import { createCatalogList } from './domain/routing/catalog-list.ts'
import { Chooser } from './domain/routing/chooser.ts'
import { createListModels as createModelList } from './domain/routing/list-models.ts'
import { createPreview } from './domain/routing/preview.ts'
import { createStreamAdmission } from './domain/speech/stream-admission.ts'
import { createSynthesize } from './domain/speech/synthesize.ts'
import { createSynthesizeStream as createSpeechStream } from './domain/speech/synthesize-stream.ts'
import { createTranscribe } from './domain/speech/transcribe.ts'
import { createTranscribeStream as createTranscriptionStream } from './domain/speech/transcribe-stream.ts'
import { compatContract } from './generated/compat/contract.ts'
import { type CompatHandlers, widenCompatHandlers } from './generated/compat/handlers.ts'
import { compatSurface } from './generated/compat/routes.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { widenInternalHandlers } from './generated/internal/handlers.ts'
import { internalSurface } from './generated/internal/routes.ts'
import { platformContract } from './generated/platform/contract.ts'
import { type PlatformHandlers, widenPlatformHandlers } from './generated/platform/handlers.ts'
import { platformSurface } from './generated/platform/routes.ts'
import { type RealtimeHandlers, realtimeSurface, widenRealtimeHandlers } from './generated/realtime/channels.ts'
import { realtimeContract } from './generated/realtime/contract.ts'
import { routerContract } from './generated/router/contract.ts'
import { type RouterHandlers, widenRouterHandlers } from './generated/router/handlers.ts'
import { routerSurface } from './generated/router/routes.ts'
import type { OpenapiDocument } from './generated/router/types.ts'
import { createAuthenticate } from './handlers/authenticate.ts'
import { createCompatHandlers } from './handlers/compat/handlers.ts'
import { createRealtimeSession } from './handlers/compat/native/realtime-session.ts'
import { createChat } from './handlers/compat/openai/chat.ts'
import { serveContract } from './handlers/contract.ts'
import { compatPlaces } from './handlers/faults/places.ts'
import { createFaultWriter } from './handlers/faults/writer.ts'
import { createHealth, type ReadyCheck } from './handlers/internal/health.ts'
import { createRankingPage } from './handlers/internal/ranking.ts'
import { createTry } from './handlers/internal/try.ts'
import { createPlatformFaultWriter } from './handlers/platform/faults.ts'
import { createPlatformHandlers } from './handlers/platform/handlers.ts'
import { createAdmit } from './handlers/realtime/admit.ts'
import { Deadlines } from './handlers/realtime/deadlines.ts'
import { createSynthesizeStream } from './handlers/realtime/synthesize-stream.ts'
import { createTranscribeStream } from './handlers/realtime/transcribe-stream.ts'
import { createTranscriptionRealtime } from './handlers/realtime/transcription-realtime.ts'
import { createListModels } from './handlers/router/models.ts'
import { createResponse } from './handlers/router/response.ts'
import { createSpeech } from './handlers/router/speech.ts'
import { createTranscription } from './handlers/router/transcription.ts'
import { vendorNameOf } from './providers/vendors.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { Mount, SocketMount } from './runtime/engine/options.ts'
import type { createLog } from './runtime/log.ts'
import type { createMetrics } from './runtime/metrics.ts'
import { createResampler } from './runtime/optional.ts'
import type { Store } from './store/store.ts'

export type Parts = {
  config: ParleyConfig
  store: Store
  providers: readonly Provider[]
  log: ReturnType<typeof createLog>
  metrics: ReturnType<typeof createMetrics>
  /** What tokens are signed with. */
  masterKey: string
  /** The key of a local run, for the page that needs none; null where there is none. */
  localKey: string | null
  readyChecks: readonly ReadyCheck[]
}

export type Surfaces = { mounts: Mount[]; sockets: SocketMount[] }

export function createSurfaces(parts: Parts): Surfaces {
  const { config, log, metrics, store } = parts
  const deps = exchangeDeps(parts)
  const operations = operationsOf(deps)
  const tokens = createEphemeralTokens({
    masterKey: parts.masterKey,
    keys: store.keys,
    used: store.usedTokens,
    clock: systemClock,
    tokenId: systemIds.token,
  })
  const { headerPrefix } = config
  const count = (code: string) => metrics.refusal(code)
  const told = { log, count, headerPrefix }
  const compatFaults = createFaultWriter({ ...told, ...compatWords })
  const mount = { host: null, basePath: '', writeFault: compatFaults, corsOrigins: [], quota: true, health: false }
  const { routerHost, compatHost, realtimeHost, platformHost } = config.surfaces
  const ranking = createRankingPage({ ...config.circuit, hedges: config.routing.hedge })
  const internal = { ...createHealth(parts.readyChecks), ...tryHandlers(parts, operations, tokens), ...ranking }
  return {
    mounts: [
      {
        ...mount,
        surface: internalSurface,
        handlers: widenInternalHandlers(internal),
        quota: false,
        health: true,
      },
      {
        ...mount,
        surface: routerSurface,
        basePath: routerHost ? '' : '/router',
        host: routerHost,
        handlers: widenRouterHandlers(routerHandlers(config, deps, operations)),
        writeFault: createFaultWriter({
          ...told,
          ...routerWords,
          contract: routerHost ? '/openapi.json' : '/router/openapi.json',
        }),
      },
      {
        ...mount,
        surface: compatSurface,
        host: compatHost,
        handlers: widenCompatHandlers(compatHandlers(config, deps, operations, tokens)),
      },
      {
        ...mount,
        surface: platformSurface,
        host: platformHost,
        handlers: widenPlatformHandlers(platformHandlers(parts, deps)),
        writeFault: createPlatformFaultWriter(log, count),
      },
    ],
    sockets: [
      {
        surface: realtimeSurface,
        basePath: '',
        host: realtimeHost,
        handlers: widenRealtimeHandlers(realtimeHandlers(config, deps)),
        admit: admission(parts, deps, tokens),
        writeFault: createFaultWriter({ ...told, ...compatWords, contract: '/asyncapi/realtime.json' }),
      },
    ],
  }
}

const convertSpeech = createConvertSpeech(createResampler)

/** What the faults of all surfaces name in the words of each. */
const routerWords = {
  hasIdempotencyKeys: true,
  places: { ...compatPlaces, allowedProviders: '/routing/allow_providers', deniedProviders: '/routing/deny_providers' },
} as const
const compatWords = {
  contract: '/openapi/compat.json',
  hasIdempotencyKeys: false,
  places: compatPlaces,
} as const

/** What more than one surface offers. */
type Operations = ReturnType<typeof operationsOf>

function operationsOf(deps: DispatchDeps) {
  return {
    transcribe: createTranscribe(deps),
    synthesize: createSynthesize({ ...deps, convert: convertSpeech }),
    preview: createPreview(deps.chooser),
  }
}

function routerHandlers(
  config: ParleyConfig,
  deps: DispatchDeps,
  { transcribe, synthesize }: Operations,
): RouterHandlers<Caller> {
  const { region } = config
  return {
    getOpenapi: serveContract<OpenapiDocument>(routerContract, config.headerPrefix),
    listModels: createListModels(createModelList(deps.chooser)),
    createTranscription: createTranscription({
      transcribe,
      region,
      durationMaxMs: config.limits.audioDurationMaxS * 1000,
    }),
    createSpeech: createSpeech({ synthesize }),
    createResponse: createResponse({ generate: createGenerate(deps, itemsTranslation), region }),
  }
}

function compatHandlers(
  config: ParleyConfig,
  deps: DispatchDeps,
  operations: Operations,
  tokens: EphemeralTokens,
): CompatHandlers<Caller> {
  const { chooser } = deps
  return {
    ...createCompatHandlers({
      chat: createChat(deps),
      ...operations,
      catalog: chooser.world.catalog,
      listCatalog: createCatalogList(chooser),
      durationMaxMs: config.limits.audioDurationMaxS * 1000,
      wavBytesMax: config.limits.answerBytesMax,
      contract: compatContract,
      realtimeContract,
      headerPrefix: config.headerPrefix,
      startedS: Math.floor(systemClock.nowMs() / 1000),
    }),
    createRealtimeSession: createRealtimeSession(tokens.mint),
  }
}

function platformHandlers({ config, store }: Parts, { chooser }: DispatchDeps): PlatformHandlers<Caller> {
  return createPlatformHandlers({
    catalog: chooser.world.catalog,
    keys: store.providerKeys,
    vendorName: (provider) => vendorNameOf(provider, config.providers),
    requestRoutes: store.requestRoutes,
    contract: platformContract,
    headerPrefix: config.headerPrefix,
  })
}

function realtimeHandlers({ realtime, region }: ParleyConfig, deps: DispatchDeps): RealtimeHandlers<Caller> {
  const { configMs, silenceMs, commitMs, openMs, sessionMs, pendingBytesMax, aheadMsMax, textCharactersMax } = realtime
  const { catalog } = deps.chooser.world
  const deadlines = new Deadlines(systemClock)
  const transcribe = createTranscriptionStream({
    ...deps,
    streams: { openMs, totalMs: sessionMs, pendingBytesMax, aheadMsMax },
  })
  const synthesize = createSpeechStream({
    ...deps,
    convert: convertSpeech,
    streams: { totalMs: sessionMs, waitingMax: textCharactersMax },
  })
  const shared = { deadlines, times: { configMs, silenceMs }, catalog, region, sessionId: systemIds.session }
  return {
    transcribeStream: createTranscribeStream({ ...shared, transcribe }),
    synthesizeStream: createSynthesizeStream({ ...shared, synthesize, textCharactersMax }),
    transcriptionRealtime: createTranscriptionRealtime({
      deadlines,
      silenceMs,
      commitMs,
      transcribe,
      catalog,
      sessionId: systemIds.session,
    }),
  }
}

function admission({ store }: Parts, deps: DispatchDeps, tokens: EphemeralTokens): SocketMount['admit'] {
  return createAdmit({
    authenticate: createAuthenticate(store.keys),
    redeem: tokens.redeem,
    admitStream: createStreamAdmission(deps),
  })
}

function tryHandlers({ config, localKey, store }: Parts, { preview }: Operations, { mint }: EphemeralTokens) {
  return createTry({
    caller: () => (localKey === null ? null : store.keys.verify(localKey)),
    mint,
    preview,
    headerPrefix: config.headerPrefix,
  })
}

function exchangeDeps({ config, store, providers, log, metrics }: Parts): DispatchDeps {
  const { circuit, limits, timeouts } = config
  const health = new Health(systemClock, { model: circuit, credential: { ...circuit, failuresMax: 1 } })
  const loopbacks = config.providers.filter(({ adapter }) => adapter === 'loopback').map(({ id }) => id)
  const catalog = new Catalog(providers)
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
