/** The configured providers, and voice activity detection. Tests pass other engines. */
import path from 'node:path'
import type { Provider } from '../domain/ports/provider.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import { openCatalog } from '../providers/catalog/rows.ts'
import { updatedCatalogFile } from '../providers/catalog/update.ts'
import { createLocalVad, type WarmVad } from '../providers/local/vad/vad-process.ts'
import { createProviders } from '../providers/registry.ts'
import type { WarmOutcome } from '../providers/wire/socket.ts'
import { outboundDefaults } from '../runtime/outbound/limits.ts'
import type { App } from './app.ts'

export type Engines = { providers: readonly Provider[]; vad: WarmVad }

/** Opens the providers and voice activity detection. Both are closed with the process. */
export async function openEngines(app: App): Promise<Engines> {
  const { config, clock, log, metrics, worker } = app
  const observeWarm = (provider: string, outcome: WarmOutcome) => metrics.warmSocket(provider, outcome)
  // Only the first process keeps a speech engine running, because one engine is enough for all the server's processes.
  const providers = await openProviders(app, { observeWarm, isWarm: config.local.warm && worker === 0 })
  app.closing(() => Promise.all(providers.map((provider) => provider.close())))
  const vad = createLocalVad({ idleMs: config.local.idleMs, clock, log })
  app.closing(() => vad.close())
  if (config.local.warm && worker === 0)
    app.closing(clock.after(warmAfterMs, () => warmForFirstCall({ providers, vad })))
  return { providers, vad }
}

/**
 * The wait before the engines for calls are started. Until then, the server's start and the engine for recordings have
 * the processor for themselves.
 */
const warmAfterMs = 1500

/**
 * Starts the engines for a first call. Without this, the first call on a busy machine failed, because recognition,
 * voice and speech detection all started with the call. If another provider serves a stage, the stage's local engine is
 * not started until a call asks for it. An idle engine ends after `local.idleMs`.
 */
export function warmForFirstCall({ providers, vad }: Engines): void {
  vad.warmUp()
  for (const stage of ['stt', 'tts'] as const) {
    const [only, ...others] = providers.flatMap((provider) => {
      const model = provider.unavailable() === null && provider.models.find((model) => model.stage === stage)
      return model ? [{ provider, model: model.id }] : []
    })
    if (only && others.length === 0) only.provider.warmUp?.(stage, only.model)
  }
}

/** Returns the folder with the models that the operator has added. */
export function modelsFolder({ dataDir, local }: Pick<ParleyConfig, 'dataDir' | 'local'>): string {
  return path.resolve(local.modelsDir ?? path.join(dataDir, 'models'))
}

type Warming = { observeWarm?: (provider: string, outcome: WarmOutcome) => void; isWarm: boolean }

/** Opens the configured providers. Throws ConfigError if a provider's settings are invalid. */
export function openProviders(
  { config, env, clock, log, owners }: Pick<App, 'config' | 'env' | 'clock' | 'log' | 'owners'>,
  { isWarm, ...observed }: Warming,
): Promise<Provider[]> {
  const { connectMs, firstTokenMs, firstAudioMs, idleMs, transcriptionMs } = config.timeouts
  const { organizationShare: part, providerConnectionsMax, providerConnectionsQueueMax: waitingMax } = config.limits
  const { providerConnectionWaitMs, answerBytesMax } = config.limits
  // A longer wait for a connection or for an embedded engine would exceed the time-out for the provider's first result.
  const waitMs = Math.min(providerConnectionWaitMs, firstTokenMs / 2, firstAudioMs / 2)
  const { enabled, ollama, ...local } = config.local
  const modelsDir = modelsFolder(config)
  return createProviders(config.providers, env, {
    limits: {
      ...outboundDefaults,
      connectMs,
      firstByteMs: Math.max(firstTokenMs, firstAudioMs),
      idleMs,
      totalMs: transcriptionMs,
      connectionsMax: providerConnectionsMax,
      queuedMax: waitingMax,
      shares: { owners, part, waitMs },
      answerBytesMax,
      warmSockets: config.warmSockets,
    },
    clock,
    catalog: openCatalog(path.join(config.dataDir, updatedCatalogFile)),
    ...observed,
    local: enabled
      ? { ...local, modelsDir, shares: { owners, part, waitMs, waitingMax }, warm: isWarm, clock, log }
      : null,
    ollamaUrl: enabled && ollama ? 'http://127.0.0.1:11434/v1' : null,
  })
}
