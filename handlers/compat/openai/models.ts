import type { Caller } from '../../../domain/records/organization.ts'
import type { CatalogEntry, CatalogList } from '../../../domain/routing/catalog-list.ts'
import type { CompatHandlers } from '../../../generated/compat/handlers.ts'
import type { CompatModel } from '../../../generated/compat/types.ts'
import { priceOf } from '../../views/price.ts'

/** Lists models. `createdS` is the start of this process, because the catalog has no model dates. */
export function listCompatModels(
  list: (all: boolean) => CatalogList,
  createdS: number,
): CompatHandlers<Caller>['listCompatModels'] {
  return ({ query: { all } }) => {
    const { entries, languages } = list(all === '1' || all === 'true')
    return { status: 200, body: { object: 'list', data: entries.map((entry) => rowOf(entry, createdS)), languages } }
  }
}

export function getCompatModel(
  find: (caller: Caller, name: string) => CatalogEntry,
  createdS: number,
): CompatHandlers<Caller>['getCompatModel'] {
  return ({ path: { model } }, { caller }) => ({ status: 200, body: rowOf(find(caller, model), createdS) })
}

/** Lists voices: `auto`, then each voice once. */
export function listCompatVoices(list: (all: boolean) => CatalogList): CompatHandlers<Caller>['listCompatVoices'] {
  return () => {
    const voices = speaking(list).flatMap(({ model }) => model.voices.map(({ id, name }) => [id, name] as const))
    const names = new Map([['auto', 'Chosen by the router'] as const, ...voices])
    return { status: 200, body: { voices: [...names].map(([id, name]) => ({ id, name })) } }
  }
}

export function listCompatSpeechModels(
  list: (all: boolean) => CatalogList,
): CompatHandlers<Caller>['listCompatSpeechModels'] {
  return () => ({ status: 200, body: { models: ['auto', ...speaking(list).map(({ name }) => name)].map(idOf) } })
}

const idOf = (id: string) => ({ id })
const speaking = (list: (all: boolean) => CatalogList) =>
  list(false).entries.filter(({ model }) => model.stage === 'tts')

function rowOf(entry: CatalogEntry, created: number): CompatModel {
  const { model, name, aliases, reason, credentialVariable, quality, latencyMs } = entry
  return {
    id: name,
    aliases,
    object: 'model',
    created,
    owned_by: model.provider,
    provider: model.provider,
    model: model.id,
    stage: model.stage,
    routable: reason === null,
    ...(reason !== null && { reason }),
    ...(credentialVariable !== null && { credential_variable: credentialVariable }),
    languages: [...model.languages],
    streaming: model.capabilities.streaming,
    quality,
    latency_ms: latencyMs === null ? null : Math.round(latencyMs),
    price: model.prices.map(priceOf),
    ...(model.voices.length > 0 && { voices: model.voices.map(voiceOf) }),
  }
}

function voiceOf({ id, name, gender, styles, language }: CatalogEntry['model']['voices'][number]) {
  return { id, name, gender, styles: [...styles], ...(language && { language }) }
}
