/**
 * The one table of adapters. Configuration names providers; a usual key in the environment enables its vendor without a file;
 * an Ollama on loopback is picked up when it answers. An adapter is loaded when the first provider needs it, and not before.
 */

import type { Model } from '../domain/catalog/model.ts'
import type { Provider } from '../domain/ports/provider.ts'
import type { Clock } from '../domain/ports/system.ts'
import { ConfigError, type Environment } from '../runtime/config.ts'
import type { OutboundLimits } from '../runtime/outbound/limits.ts'
import { catalogued } from './catalog/rows.ts'
import type { LocalOptions } from './local/provider.ts'
import { discoverOllama } from './openai/ollama-discovery.ts'
import { type ModelIds, type Preset, presets } from './openai/presets.ts'
import type { VendorModel, VendorOptions } from './vendor.ts'
import type { WarmOutcome } from './wire/socket.ts'

export type ProviderConfig = {
  id: string
  /** A key of the table below. */
  adapter: string
  baseUrl?: string
  /** The key itself, or `env:NAME`. */
  apiKey?: string
  models?: ModelIds
}

export type RegistryDeps = {
  limits: OutboundLimits
  clock: Clock
  /** Hears whether sockets that were opened ahead were of use; for the metrics. */
  observeWarm?: (provider: string, outcome: WarmOutcome) => void
  /** Options of the embedded engines; null when they are off. */
  local: LocalOptions | null
  /** Base URL at which an Ollama is looked for; null: nowhere. */
  ollamaUrl: string | null
}

type Factory = (config: ProviderConfig, env: Environment, deps: RegistryDeps) => Promise<Provider>

type Vendor = {
  /** The usual variable of its key. */
  keyVariable: string
  models: () => Promise<readonly VendorModel[]>
  load: () => Promise<(options: VendorOptions) => Provider>
}

/** Vendors with a protocol of their own. */
export const vendors: Readonly<Record<string, Vendor>> = {
  anthropic: {
    keyVariable: 'ANTHROPIC_API_KEY',
    models: async () => (await import('./anthropic/models.ts')).anthropicModels,
    load: async () => (await import('./anthropic/provider.ts')).createAnthropicProvider,
  },
  assemblyai: {
    keyVariable: 'ASSEMBLYAI_API_KEY',
    models: async () => (await import('./assemblyai/models.ts')).assemblyaiModels,
    load: async () => (await import('./assemblyai/provider.ts')).createAssemblyaiProvider,
  },
  cartesia: {
    keyVariable: 'CARTESIA_API_KEY',
    models: async () => (await import('./cartesia/models.ts')).cartesiaModels,
    load: async () => (await import('./cartesia/provider.ts')).createCartesiaProvider,
  },
  deepgram: {
    keyVariable: 'DEEPGRAM_API_KEY',
    models: async () => (await import('./deepgram/models.ts')).deepgramModels,
    load: async () => (await import('./deepgram/provider.ts')).createDeepgramProvider,
  },
  elevenlabs: {
    keyVariable: 'ELEVENLABS_API_KEY',
    models: async () => (await import('./elevenlabs/models.ts')).elevenLabsModels,
    load: async () => (await import('./elevenlabs/provider.ts')).createElevenLabsProvider,
  },
  gemini: {
    keyVariable: 'GEMINI_API_KEY',
    models: async () => (await import('./gemini/models.ts')).geminiModels,
    load: async () => (await import('./gemini/provider.ts')).createGeminiProvider,
  },
  soniox: {
    keyVariable: 'SONIOX_API_KEY',
    models: async () => (await import('./soniox/models.ts')).sonioxModels,
    load: async () => (await import('./soniox/provider.ts')).createSonioxProvider,
  },
  speechmatics: {
    keyVariable: 'SPEECHMATICS_API_KEY',
    models: async () => (await import('./speechmatics/models.ts')).speechmaticsModels,
    load: async () => (await import('./speechmatics/provider.ts')).createSpeechmaticsProvider,
  },
}

const adapters: Readonly<Record<string, Factory>> = {
  local: async ({ id }, _env, { local }) => {
    if (id !== 'local') throw new ConfigError(`providers: the embedded engines have the id local, not ${id}`)
    if (!local) throw new ConfigError('providers: local is named, but local.enabled turns it off')
    return (await import('./local/provider.ts')).createLocalProvider(local)
  },
  loopback: async ({ id, models }) =>
    (await import('./loopback/provider.ts')).createLoopbackProvider({ id, ...(models && { models }) }),
  ...Object.fromEntries(Object.entries(presets).map(([name, preset]) => [name, openAiFactory(name, preset)])),
  ...Object.fromEntries(Object.entries(vendors).map(([name, vendor]) => [name, vendorFactory(name, vendor)])),
}

/** In the order of configuration, then what was found by itself. Throws ConfigError that names the provider at fault. */
export async function createProviders(
  configs: readonly ProviderConfig[],
  env: Environment,
  deps: RegistryDeps,
): Promise<Provider[]> {
  const all = [...configs, ...implied(configs, deps)]
  const ids = new Set<string>()
  for (const { id, adapter } of all) {
    if (ids.has(id)) throw new ConfigError(`providers: the id ${id} is used twice`)
    ids.add(id)
    if (Object.hasOwn(adapters, adapter)) continue
    const known = Object.keys(adapters).join(', ')
    throw new ConfigError(`providers: ${id} names the adapter ${adapter}, which is not known; there are ${known}`)
  }
  const providers = await Promise.all(all.map((config) => (adapters[config.adapter] as Factory)(config, env, deps)))
  const { ollamaUrl } = deps
  if (ollamaUrl === null || all.some(({ id, adapter }) => id === 'ollama' || adapter === 'ollama')) return providers
  const appear = (models: ModelIds) =>
    openAiFactory('ollama', presets.ollama)({ id: 'ollama', adapter: 'ollama', baseUrl: ollamaUrl, models }, env, deps)
  return [...providers, discoverOllama(ollamaUrl, appear)]
}

/**
 * What needs no file: every vendor, since organizations may bring their own keys; without the operator's it is there for those alone. Configuration
 * comes first: an id or a vendor that it names is not added again.
 */
function implied(configs: readonly ProviderConfig[], deps: RegistryDeps): ProviderConfig[] {
  const taken = (name: string) =>
    configs.some(({ id, adapter, baseUrl }) => id === name || (adapter === name && baseUrl === undefined))
  const names = Object.entries<Preset>(presets)
    .filter(([, { keyVariable, models }]) => keyVariable !== null && models !== null)
    .map(([name]) => name)
  names.push(...Object.keys(vendors))
  if (deps.local) names.push('local')
  return names.filter((name) => !taken(name)).map((name) => ({ id: name, adapter: name }))
}

/**
 * A vendor without the operator's key: its rows, and what serves them as soon as an organization comes with a key of its own. The adapters of all vendors
 * together would take some 20 MB of every installation, and most are never used.
 */
function dormant(id: string, models: readonly Model[], wake: () => Promise<Provider>): Provider {
  let awake: Promise<Provider> | null = null
  return {
    id,
    models,
    ports: {},
    unavailable: () => 'no_credential',
    forKey: async (apiKey) => {
      awake ??= wake()
      return (await awake).forKey?.(apiKey) ?? {}
    },
    close: async () => (await awake)?.close(),
  }
}

function vendorFactory(name: string, { keyVariable, models, load }: Vendor): Factory {
  return async (config, env, { limits, clock, observeWarm }) => {
    const { id, baseUrl = null } = config
    if (baseUrl !== null) requireHttp(id, baseUrl)
    const ids = config.models ? Object.values(config.models).flat() : null
    const key = credential(config, baseUrl === null ? keyVariable : null, env)
    const wake = async () =>
      (await load())({
        id,
        baseUrl,
        apiKey: key ?? null,
        models: ids,
        limits,
        clock,
        unavailable: key === undefined ? 'no_credential' : null,
        ...(observeWarm && { observeWarm: (outcome) => observeWarm(id, outcome) }),
      })
    try {
      return key === undefined ? dormant(id, catalogued(name, id, await models(), ids), wake) : await wake()
    } catch (error) {
      if (error instanceof RangeError) throw new ConfigError(`providers: ${error.message}; ${name} has others`)
      throw error
    }
  }
}

function openAiFactory(name: string, preset: Preset): Factory {
  return async (config, env, { limits, clock, observeWarm }) => {
    const { id } = config
    const baseUrl = config.baseUrl ?? preset.baseUrl
    if (baseUrl === null) throw new ConfigError(`providers: ${id} needs a baseUrl`)
    requireHttp(id, baseUrl)
    const own = preset.baseUrl !== null && sameBase(baseUrl, preset.baseUrl)
    const models = config.models ?? (own ? preset.models : null)
    if (!models) throw new ConfigError(`providers: ${id} names no models`)
    const key = credential(config, own ? preset.keyVariable : null, env)
    // The plain adapter in front of another server cannot know its dialect.
    const known = own || name !== 'openai'
    const live = known ? listening(preset, models.stt) : []
    const transcriptions = known ? preset.transcriptions : undefined
    const wake = async () =>
      (await import('./openai/provider.ts')).createOpenAiProvider({
        id,
        baseUrl,
        apiKey: key ?? null,
        models,
        maxTokensField: known ? preset.maxTokensField : null,
        asksForUsage: preset.asksForUsage,
        ...(preset.responses && own && { responses: preset.responses }),
        ...(transcriptions && { transcriptions }),
        ...(live.length > 0 && {
          realtime: {
            models: live,
            rules: preset.realtime?.rules ?? 'openai',
            clock,
            ...(observeWarm && { observeWarm: (outcome: WarmOutcome) => observeWarm(id, outcome) }),
          },
        }),
        limits,
        unavailable: key === undefined ? 'no_credential' : null,
        monotonicMs: () => clock.monotonicMs(),
      })
    if (key !== undefined) return wake()
    const { modelRows } = await import('./openai/models.ts')
    return dormant(id, modelRows(id, baseUrl, models, live, transcriptions), wake)
  }
}

function listening({ realtime }: Preset, ids: readonly string[] = []): readonly string[] {
  if (!realtime) return []
  return realtime.models === 'all' ? ids : realtime.models.filter((model) => ids.includes(model))
}

/** Undefined: one is needed and not there. Null: none is needed. A vendor's usual variable is read for the vendor's own address only, so that its key goes nowhere else. */
function credential(config: ProviderConfig, usual: string | null, env: Environment): string | null | undefined {
  const name = config.apiKey?.startsWith('env:') ? config.apiKey.slice(4) : config.apiKey === undefined ? usual : null
  if (name !== null) return env[name]?.trim() || undefined
  return config.apiKey ?? null
}

function requireHttp(id: string, baseUrl: string): void {
  if (URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol)) return
  throw new ConfigError(`providers: the baseUrl of ${id} is not an http or https URL`)
}

const sameBase = (a: string, b: string) => a.replace(/\/+$/, '') === b.replace(/\/+$/, '')
