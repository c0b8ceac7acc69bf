/**
 * Creates the providers from the table in vendors.ts. The configuration lists providers. A vendor's usual key variable
 * in the environment enables the vendor without a configuration. An Ollama server on this machine is added when it
 * answers. An adapter is loaded when the first provider needs it.
 */

import type { Model, Stage } from '../domain/ports/model.ts'
import type { Provider } from '../domain/ports/provider.ts'
import type { Clock } from '../domain/ports/system.ts'
import type { OutboundLimits } from '../runtime/outbound/limits.ts'
import { ConfigError, type Environment, secretOf } from '../runtime/process/config.ts'
import { type ConfiguredPrice, price } from './configured-prices.ts'
import type { LocalOptions } from './local/provider.ts'
import { discoverOllama } from './openai/ollama-discovery.ts'
import { isOwnOf, namedBeside, unlistedOf } from './unlisted.ts'
import {
  isVendorId,
  type ModelIds,
  type OpenAiServer,
  type Vendor,
  type VendorAdapter,
  type VendorId,
  vendorIds,
  vendors,
} from './vendors/vendors.ts'
import type { PublishedCatalog, VendorModel, VendorOptions } from './wire/adapter.ts'
import type { WarmOutcome } from './wire/socket.ts'

export type ProviderConfig = {
  id: string
  /** An entry's name in the table in vendors.ts. */
  adapter: string
  baseUrl?: string
  /** The API key, or `env:NAME` for an environment variable with the API key. */
  apiKey?: string
  models?: ModelIds
  region?: string
  prices?: readonly ConfiguredPrice[]
}

export type RegistryDeps = {
  limits: OutboundLimits
  clock: Clock
  /** The figures, prices and dates for the catalog rows. */
  catalog: PublishedCatalog
  /** Called after each use of a warm socket, for the metrics. */
  observeWarm?: (provider: string, outcome: WarmOutcome) => void
  /** The embedded speech engines' options; null if they are off. */
  local: LocalOptions | null
  /** The base URL where an Ollama server may run; null to skip the search. */
  ollamaUrl: string | null
}

type Adapter = {
  models: () => Promise<readonly VendorModel[]>
  load: () => Promise<(options: VendorOptions) => Provider>
}

/** The adapters for protocols used by only one vendor. */
const adapters: Readonly<Record<VendorAdapter, Adapter>> = {
  anthropic: {
    models: async () => (await import('./anthropic/models.ts')).anthropicModels,
    load: async () => (await import('./anthropic/provider.ts')).createAnthropicProvider,
  },
  assemblyai: {
    models: async () => (await import('./assemblyai/models.ts')).assemblyaiModels,
    load: async () => (await import('./assemblyai/provider.ts')).createAssemblyaiProvider,
  },
  cartesia: {
    models: async () => (await import('./cartesia/models.ts')).cartesiaModels,
    load: async () => (await import('./cartesia/provider.ts')).createCartesiaProvider,
  },
  deepgram: {
    models: async () => (await import('./deepgram/models.ts')).deepgramModels,
    load: async () => (await import('./deepgram/provider.ts')).createDeepgramProvider,
  },
  elevenlabs: {
    models: async () => (await import('./elevenlabs/models.ts')).elevenLabsModels,
    load: async () => (await import('./elevenlabs/provider.ts')).createElevenLabsProvider,
  },
  gemini: {
    models: async () => (await import('./gemini/models.ts')).geminiModels,
    load: async () => (await import('./gemini/provider.ts')).createGeminiProvider,
  },
  soniox: {
    models: async () => (await import('./soniox/models.ts')).sonioxModels,
    load: async () => (await import('./soniox/provider.ts')).createSonioxProvider,
  },
  speechmatics: {
    models: async () => (await import('./speechmatics/models.ts')).speechmaticsModels,
    load: async () => (await import('./speechmatics/provider.ts')).createSpeechmaticsProvider,
  },
}

/**
 * Returns the configured providers in their configured order, then the providers that need no configuration. Throws
 * ConfigError with the faulty provider's name.
 */
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
    if (isVendorId(adapter)) continue
    const supportedIds = vendorIds.join(', ')
    throw new ConfigError(
      `providers: ${id} names the adapter ${adapter}, which is not known; there are ${supportedIds}`,
    )
  }
  const providers = await Promise.all(
    all.map(async (config) => {
      const provider = await create(config, env, deps)
      if (config.prices !== undefined) price(provider, config.prices)
      return config.region === undefined ? provider : Object.assign(provider, { region: config.region })
    }),
  )
  const { ollamaUrl } = deps
  if (ollamaUrl === null || all.some(({ id, adapter }) => id === 'ollama' || adapter === 'ollama')) return providers
  const appear = (models: ModelIds) =>
    createOpenAi({ id: 'ollama', adapter: 'ollama', baseUrl: ollamaUrl, models }, vendors.ollama, env, deps)
  return [...providers, discoverOllama(ollamaUrl, appear)]
}

/**
 * Returns the providers that need no configuration. All vendors are included, also without the operator's key, because
 * organizations may use their keys for a vendor. If the configuration names an id or a vendor, it is not added again.
 */
function implied(configs: readonly ProviderConfig[], deps: RegistryDeps): ProviderConfig[] {
  const isConfigured = (name: string) =>
    configs.some(({ id, adapter, baseUrl }) => id === name || (adapter === name && baseUrl === undefined))
  const names = vendorIds.filter((name) => isImplied(vendors[name]))
  if (deps.local) names.push('local')
  return names.filter((name) => !isConfigured(name)).map((name) => ({ id: name, adapter: name }))
}

const isImplied = (vendor: Vendor) =>
  vendor.keyVariable !== null && (vendor.adapter !== 'openai' || vendor.server.models !== null)

function create(config: ProviderConfig, env: Environment, deps: RegistryDeps): Promise<Provider> {
  const vendor: Vendor = vendors[config.adapter as VendorId]
  if (vendor.adapter === 'local') return createLocal(config, deps)
  if (vendor.adapter === 'loopback') return createLoopback(config)
  if (vendor.adapter === 'openai') return createOpenAi(config, vendor, env, deps)
  return createNative(config, vendor, adapters[vendor.adapter], env, deps)
}

async function createLocal({ id }: ProviderConfig, { local }: RegistryDeps): Promise<Provider> {
  if (id !== 'local') throw new ConfigError(`providers: the embedded engines have the id local, not ${id}`)
  if (!local) throw new ConfigError('providers: local is named, but local.enabled turns it off')
  return (await import('./local/provider.ts')).createLocalProvider(local)
}

async function createLoopback({ id, models }: ProviderConfig): Promise<Provider> {
  return (await import('./loopback/provider.ts')).createLoopbackProvider({ id, ...(models && { models }) })
}

/**
 * Returns a provider for a vendor whose key the operator has not set. The catalog has the provider's models, but the
 * adapter is loaded only when an organization first uses a key for the vendor. All adapters together would need about
 * 20 MB, and most are never used.
 */
function dormant(
  id: string,
  variable: string | null,
  models: readonly Model[],
  wake: () => Promise<Provider>,
): Provider {
  let awake: Promise<Provider> | null = null
  return {
    id,
    models,
    ...(variable !== null && { credentialVariable: variable }),
    ports: {},
    unavailable: () => 'no_credential',
    forKey: async (apiKey) => {
      awake ??= wake()
      return (await awake).forKey?.(apiKey) ?? {}
    },
    close: async () => (await awake)?.close(),
  }
}

async function createNative(
  config: ProviderConfig,
  vendor: Vendor,
  { models, load }: Adapter,
  env: Environment,
  { limits, clock, catalog, observeWarm }: RegistryDeps,
): Promise<Provider> {
  const { id, adapter, baseUrl = null } = config
  if (baseUrl !== null) requireHttp(id, baseUrl)
  const ids = config.models ? Object.values(config.models).flat() : null
  const variable = variableOf(config, baseUrl === null ? vendor.keyVariable : null)
  const key = credential(config, variable, env)
  const vendorModels = await models()
  const more = config.models ? namedBeside(vendorModels, vendor, config.models) : []
  const wake = async () =>
    (await load())({
      id,
      baseUrl,
      apiKey: key ?? null,
      models: ids,
      more,
      limits,
      clock,
      catalog,
      unavailable: key === undefined ? 'no_credential' : null,
      ...(observeWarm && { observeWarm: (outcome) => observeWarm(id, outcome) }),
    })
  try {
    const rows = () => catalog.rows(adapter, id, [...vendorModels, ...more], ids)
    const provider = key === undefined ? dormant(id, variable, rows(), wake) : await wake()
    return Object.assign(provider, { isOwn: isOwnOf(vendor), unlisted: unlistedOf(vendor, id, vendorModels) })
  } catch (error) {
    if (error instanceof RangeError) throw new ConfigError(`providers: ${error.message}; ${adapter} has others`)
    throw error
  }
}

async function createOpenAi(
  config: ProviderConfig,
  vendor: Vendor & { server: OpenAiServer },
  env: Environment,
  { limits, clock, catalog, observeWarm }: RegistryDeps,
): Promise<Provider> {
  const { id, adapter } = config
  const { server } = vendor
  const baseUrl = config.baseUrl ?? server.baseUrl
  if (baseUrl === null) throw new ConfigError(`providers: ${id} needs a baseUrl`)
  requireHttp(id, baseUrl)
  const isPublished = server.baseUrl !== null && sameBase(baseUrl, server.baseUrl)
  const models = config.models ?? (isPublished ? server.models : null)
  if (!models) throw new ConfigError(`providers: ${id} names no models`)
  const variable = variableOf(config, isPublished ? vendor.keyVariable : null)
  const key = credential(config, variable, env)
  // If the adapter `openai` is used with a base URL that no vendor has published, the server's features are not known.
  const isVendorServer = isPublished || adapter !== 'openai'
  const live = isVendorServer ? liveModels(server, models.stt) : []
  const transcriptions = isVendorServer ? server.transcriptions : undefined
  const wake = async () =>
    (await import('./openai/provider.ts')).createOpenAiProvider({
      id,
      baseUrl,
      models,
      apiKey: key ?? null,
      catalog,
      maxTokensField: isVendorServer ? server.maxTokensField : null,
      asksForUsage: server.asksForUsage,
      // A server that is not the vendor's own may show its models to everyone. Then a check proves only that the server
      // answers.
      keyCheck: vendor.keyCheck,
      keyCheckNeedsKey: isPublished && vendor.keyVariable !== null,
      ...(server.responses && isPublished && { responses: server.responses }),
      ...(transcriptions && { transcriptions }),
      ...(live.length > 0 && {
        realtime: {
          models: live,
          rules: server.realtime?.rules ?? 'openai',
          ...(observeWarm && { observeWarm: (outcome: WarmOutcome) => observeWarm(id, outcome) }),
        },
      }),
      limits,
      unavailable: key === undefined ? 'no_credential' : null,
      clock,
    })
  const { modelRows, unlistedRow } = await import('./openai/models.ts')
  const rows = { id, baseUrl, models, live, transcriptions }
  const provider = key === undefined ? dormant(id, variable, modelRows(rows, catalog), wake) : await wake()
  const isEveryModelLive = isVendorServer && server.realtime?.models === 'all'
  return Object.assign(provider, {
    ...(isPublished && { isOwn: isOwnOf(vendor) }),
    unlisted: (stage: Stage, model: string) => unlistedRow(rows, stage, model, isEveryModelLive),
  })
}

function liveModels({ realtime }: OpenAiServer, ids: readonly string[] = []): readonly string[] {
  if (!realtime) return []
  return realtime.models === 'all' ? ids : realtime.models.filter((model) => ids.includes(model))
}

/**
 * Returns the API key, undefined if a needed key is missing, or null if the server needs no key. A vendor's usual
 * variable is used only for the vendor's published base URL, so the vendor's key is sent to no other server.
 */
function credential(config: ProviderConfig, variable: string | null, env: Environment): string | null | undefined {
  return variable === null ? (config.apiKey ?? null) : secretOf(env, variable)?.trim() || undefined
}

/**
 * Returns the environment variable's name if the API key is in such a variable. Returns null if the key is in the
 * configuration or the server needs no key.
 */
function variableOf({ apiKey }: ProviderConfig, usual: string | null): string | null {
  if (apiKey === undefined) return usual
  return apiKey.startsWith('env:') ? apiKey.slice(4) : null
}

function requireHttp(id: string, baseUrl: string): void {
  if (URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol)) return
  throw new ConfigError(`providers: the baseUrl of ${id} is not an http or https URL`)
}

const sameBase = (a: string, b: string) => a.replace(/\/+$/, '') === b.replace(/\/+$/, '')
