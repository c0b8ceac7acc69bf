/**
 * The one table of adapters. Configuration names providers; a usual key in the environment enables its vendor without a file;
 * an Ollama on loopback is picked up when it answers. An adapter is loaded when the first provider needs it, and not before.
 */
import type { Provider } from '../domain/routing/provider.ts'
import { ConfigError, type Environment } from '../runtime/config.ts'
import type { OutboundLimits } from '../runtime/outbound/limits.ts'
import type { LocalOptions } from './local/provider.ts'
import { discoverOllama } from './openai/ollama.ts'
import { type ModelIds, type Preset, presets } from './openai/presets.ts'

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
  monotonicMs: () => number
  /** Options of the embedded engines; null when they are off. */
  local: LocalOptions | null
  /** Base URL at which an Ollama is looked for; null: nowhere. */
  ollamaUrl: string | null
}

type Factory = (config: ProviderConfig, env: Environment, deps: RegistryDeps) => Promise<Provider>

const adapters: Readonly<Record<string, Factory>> = {
  local: async ({ id }, _env, { local }) => {
    if (id !== 'local') throw new ConfigError(`providers: the embedded engines have the id local, not ${id}`)
    if (!local) throw new ConfigError('providers: local is named, but local.enabled turns it off')
    return (await import('./local/provider.ts')).createLocalProvider(local)
  },
  loopback: async ({ id, models }) =>
    (await import('./loopback/provider.ts')).createLoopbackProvider({ id, ...(models && { models }) }),
  ...Object.fromEntries(Object.entries(presets).map(([name, preset]) => [name, openAiFactory(name, preset)])),
}

/** In the order of configuration, then what was found by itself. Throws ConfigError that names the provider at fault. */
export async function createProviders(
  configs: readonly ProviderConfig[],
  env: Environment,
  deps: RegistryDeps,
): Promise<Provider[]> {
  const all = [...configs, ...implied(configs, env, deps)]
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

/** What needs no file. Configuration comes first: an id or a vendor that it names is not added again. */
function implied(configs: readonly ProviderConfig[], env: Environment, deps: RegistryDeps): ProviderConfig[] {
  const taken = (name: string) =>
    configs.some(({ id, adapter, baseUrl }) => id === name || (adapter === name && baseUrl === undefined))
  const names = Object.entries<Preset>(presets)
    .filter(([, { keyVariable, models }]) => keyVariable !== null && env[keyVariable] && models !== null)
    .map(([name]) => name)
  if (deps.local) names.push('local')
  return names.filter((name) => !taken(name)).map((name) => ({ id: name, adapter: name }))
}

function openAiFactory(name: string, preset: Preset): Factory {
  return async (config, env, { limits, monotonicMs }) => {
    const { id } = config
    const baseUrl = config.baseUrl ?? preset.baseUrl
    if (baseUrl === null) throw new ConfigError(`providers: ${id} needs a baseUrl`)
    if (!isHttpUrl(baseUrl)) throw new ConfigError(`providers: the baseUrl of ${id} is not an http or https URL`)
    const own = preset.baseUrl !== null && sameBase(baseUrl, preset.baseUrl)
    const models = config.models ?? (own ? preset.models : null)
    if (!models) throw new ConfigError(`providers: ${id} names no models`)
    const key = credential(config, own ? preset.keyVariable : null, env)
    // The plain adapter in front of another server cannot know its dialect.
    const known = own || name !== 'openai'
    const { createOpenAiProvider } = await import('./openai/provider.ts')
    return createOpenAiProvider({
      id,
      baseUrl,
      apiKey: key ?? null,
      models,
      maxTokensField: known ? preset.maxTokensField : null,
      asksForUsage: preset.asksForUsage,
      limits,
      unavailable: key === undefined ? 'no_credential' : null,
      monotonicMs,
    })
  }
}

/** Undefined: one is needed and not there. Null: none is needed. A vendor's usual variable is read for the vendor's own address only, so that its key goes nowhere else. */
function credential(config: ProviderConfig, usual: string | null, env: Environment): string | null | undefined {
  const name = config.apiKey?.startsWith('env:') ? config.apiKey.slice(4) : config.apiKey === undefined ? usual : null
  if (name !== null) return env[name]?.trim() || undefined
  return config.apiKey ?? null
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

const sameBase = (a: string, b: string) => a.replace(/\/+$/, '') === b.replace(/\/+$/, '')
