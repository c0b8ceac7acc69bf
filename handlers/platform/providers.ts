import { noCredential, ownKeyIdOf, type ProviderKeyAdministration } from '../../domain/access/provider-keys.ts'
import type { Catalog, Row } from '../../domain/catalog/catalog.ts'
import type { CheckProvider } from '../../domain/dispatch/check-provider.ts'
import { type Stage, stages } from '../../domain/ports/model.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { type Caller, type OwnKeys, tenantOf } from '../../domain/records/organization.ts'
import { modelName } from '../../domain/routing/model-name.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { KnownModel, ListedVoice, ProviderStatus, VoiceProvider } from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { sayProviderCheck } from './provider-check-words.ts'

export type ProvidersDeps = {
  catalog: Catalog
  keys: ProviderKeyAdministration
  checkProvider: CheckProvider
  /** Returns the provider's display name. */
  vendorName: (provider: string) => string
}

type Handlers = PlatformHandlers<Caller>

export function listProviders({ catalog, keys }: ProvidersDeps): Handlers['listProviders'] {
  return async (_request, { caller }) => {
    const ownKeys = caller.test ? {} : await keys.list(caller.organization.id)
    const providers = [...providersOf(catalog)].sort(([a], [b]) => (a.id < b.id ? -1 : 1))
    return { status: 200, body: providers.map(([provider, stages]) => statusOf(provider, stages, ownKeys)) }
  }
}

export function putProviderKey({ catalog, keys }: ProvidersDeps): Handlers['putProviderKey'] {
  return async ({ body }, { caller }) => {
    if (caller.test) throw testKeysHaveNone()
    const entry = [...providersOf(catalog)].find(([{ id }]) => id === body.provider)
    if (!entry) throw refused('This server has no such provider.', 'GET /v1/providers lists those that it has.')
    const [provider, stages] = entry
    if (!provider.forKey) throw refused('This provider needs no key.', 'Route to it as it is.')
    await keys.put(caller.organization.id, provider.id, body.apiKey)
    return { status: 200, body: statusOf(provider, stages, { [provider.id]: 'new' }) }
  }
}

export function deleteProviderKey({ keys }: ProvidersDeps): Handlers['deleteProviderKey'] {
  return async ({ path }, { caller }) => {
    if (!caller.test && (await keys.remove(caller.organization.id, path.provider))) return { status: 204 }
    throw new Refusal('not_found', {
      message: 'This organization has no key for such a provider.',
      hint: 'GET /v1/providers shows where it has one: source is BYOK there.',
    })
  }
}

export function checkProvider(deps: ProvidersDeps): Handlers['checkProvider'] {
  return async ({ path }, { caller }) => {
    const check = await deps.checkProvider(tenantOf(caller), path.provider)
    return { status: 200, body: { ok: check.outcome === 'succeeded', ...check, message: sayProviderCheck(check) } }
  }
}

export function listKnownProviders({ catalog, vendorName }: ProvidersDeps): Handlers['listKnownProviders'] {
  const wireModel = ({ model, provider: { id } }: Row): KnownModel => ({
    id: modelName(id, model.id),
    vendor: id,
    vendorName: vendorName(id),
    model: model.id,
    benchmarked: model.benchmarks.some(({ value }) => value !== null),
  })
  return () => {
    catalog.version()
    const [stt, llm, tts] = stages.map((stage) => catalog.stage(stage).map(wireModel))
    return { status: 200, body: { stt: stt ?? [], llm: llm ?? [], tts: tts ?? [] } }
  }
}

export function listVoices({
  catalog,
  vendorName,
}: Pick<ProvidersDeps, 'catalog' | 'vendorName'>): Handlers['listVoices'] {
  return ({ query: { provider } }) => {
    catalog.version()
    const rows = catalog.stage('tts').filter((row) => provider === undefined || isOf(row, provider))
    const ids = [...new Set(rows.map((row) => row.provider.id))].sort()
    const providers = ids.map((id) => [id, rows.filter((row) => row.provider.id === id)] as const)
    return {
      status: 200,
      body: {
        voices: providers.flatMap(([id, own]) => voicesOf(id, own)),
        providers: providers.map(
          ([key, own]): VoiceProvider => ({
            ...{ key, name: vendorName(key), models: own.map(({ model }) => model.id) },
            voicesFetchedLive: false,
          }),
        ),
      },
    }
  }
}

const isOf = ({ provider: { id } }: Row, name: string) => name === id || name === `${id}-tts`

/** Lists voices, each once, because a provider's models share voices. */
function voicesOf(vendor: string, rows: readonly Row[]): ListedVoice[] {
  const names = new Map(rows.flatMap(({ model }) => model.voices.map(({ id, name }) => [id, name] as const)))
  return [...names].map(([id, name]) => ({ vendor, id, name }))
}

/** Returns the providers with models at present, each with its stages: speech to text, LLM or text to speech. */
function providersOf(catalog: Catalog): Map<Provider, Stage[]> {
  catalog.version()
  const stagesByProvider = new Map<Provider, Stage[]>()
  for (const stage of stages)
    for (const { provider } of catalog.stage(stage)) {
      const served = stagesByProvider.get(provider) ?? []
      if (!served.includes(stage)) served.push(stage)
      stagesByProvider.set(provider, served)
    }
  return stagesByProvider
}

function statusOf(provider: Provider, stages: Stage[], ownKeys: OwnKeys): ProviderStatus {
  const isOwn = ownKeyIdOf(provider, ownKeys) !== null
  const configured = isOwn || provider.unavailable() !== noCredential
  return { provider: provider.id, stages, configured, source: isOwn ? 'BYOK' : null }
}

/** Refuses a test key, because test keys reach no provider and so need no provider keys. */
function testKeysHaveNone(): Refusal {
  return new Refusal('forbidden', {
    message: 'This is a test key: it reaches no provider, and sees and stores no key for one.',
    hint: 'Use a live key.',
  })
}

function refused(message: string, hint: string): Refusal {
  return new Refusal('invalid_parameter', { param: '/provider', message, hint, keyword: 'value' })
}
