import { noCredential } from '../access/provider-keys.ts'
import type { Catalog, Row } from '../catalog/catalog.ts'
import { baseOf, defaultLanguage, readLanguage } from '../catalog/language.ts'
import { type Model, type Path, type Stage, stages } from '../ports/model.ts'
import { Fault } from '../records/fault.ts'
import type { Caller } from '../records/organization.ts'
import { baseAsk, type Routing } from './ask.ts'
import type { Chooser } from './chooser.ts'
import { figuresFor } from './figure-table.ts'
import { modelName, routingOfName } from './model-name.ts'
import { latencyMetrics, qualityMetrics } from './weights.ts'

export type CatalogEntry = {
  model: Model
  /** The model's name in the form `<provider>:<model>`. */
  name: string
  /** Other names by which a client can pin this row. */
  aliases: string[]
  /**
   * The reason why requests without an organization's provider key cannot use this row now. Null if the row can be
   * used.
   */
  reason: string | null
  /** The environment variable for the missing credential. Null if no credential is missing. */
  credentialVariable: string | null
  /**
   * The published quality figure in the metric that is preferred for speech to text, LLMs or text to speech. Null if
   * there is no figure.
   */
  quality: number | null
  /** The latency measured here, or else the published latency. Null if there is no figure. */
  latencyMs: number | null
}

/**
 * `languages` are the base languages of the routable models, sorted. They contain `*` if a model accepts any language.
 */
export type CatalogList = { entries: CatalogEntry[]; languages: string[] }

/**
 * Lists the routable rows, without regard to the API key's limits. If `all` is true, the unroutable rows follow.
 * Clients receive these only on request.
 */
export function createCatalogList(chooser: Chooser): (all: boolean) => CatalogList {
  return (all) => {
    chooser.world.catalog.version()
    const rows = stages.flatMap((stage) => chooser.world.catalog.stage(stage))
    const entries = rows.map((row) => entryOf(row, chooser))
    const routable = entries.filter(({ reason }) => reason === null)
    const spoken = routable.flatMap(({ model }) => model.languages.map(baseOf))
    const others = all ? entries.filter(({ reason }) => reason !== null) : []
    return { entries: [...routable, ...others], languages: [...new Set(spoken)].sort() }
  }
}

/**
 * The stages in which a name without a stage is looked up. The order is fixed, because such a name usually means a
 * language model.
 */
const namedStages: readonly Stage[] = ['llm', 'stt', 'tts']

/**
 * Finds the row that serves this API client's requests with a model name. The name `auto`, or an alias for it, stands
 * for the language model with the best rank. Throws the faults `ambiguous_model` and `no_such_model`. If the client
 * cannot use the model, throws the same fault as a request.
 */
export function createFindModel(chooser: Chooser): (caller: Caller, name: string) => CatalogEntry {
  return (caller, name) => {
    const { catalog } = chooser.world
    const { stage, routing } = namedRouting(catalog, caller, name)
    const ask = { ...baseAsk(caller, stage, routing, undefined), needs: [], language: null, voice: null }
    const choice = chooser.choose(ask)
    const [candidate] = choice.candidates
    if (candidate) return { ...entryOf(candidate.row, chooser), reason: null, credentialVariable: null }
    const fault = chooser.refusal(choice)
    const row = routing.mode === 'explicit' ? catalog.find(stage, routing.provider, routing.model) : undefined
    if (row && fault.kind === 'none_callable') return entryOf(row, chooser)
    throw fault
  }
}

function namedRouting(catalog: Catalog, caller: Caller, name: string): { stage: Stage; routing: Routing } {
  const { aliases, objective } = caller.policy
  const near = new Set<string>()
  for (const stage of namedStages) {
    try {
      return { stage, routing: routingOfName(catalog, { stage, name, objective, aliases }) }
    } catch (fault) {
      if (!(fault instanceof Fault) || fault.data.kind !== 'unknown_model') throw fault
      for (const each of fault.data.near) near.add(each)
    }
  }
  throw new Fault({ kind: 'no_such_model', near: [...near] })
}

const paths: readonly Path[] = ['stream', 'batch']

function entryOf(row: Row, { world: { catalog, health } }: Chooser): CatalogEntry {
  const { model, provider, pin } = row
  const isAlone = catalog.stage(model.stage).filter((other) => other.model.id === model.id).length === 1
  const name = modelName(provider.id, model.id)
  const spellings = isAlone ? [pin, model.id] : [pin]
  const reason = catalog.unavailable(provider)
  return {
    model,
    name,
    aliases: [...spellings, ...aliasesOf([name, ...spellings], catalog)],
    reason: reason ?? health.blocked(row)?.reason ?? null,
    credentialVariable: reason === noCredential ? (provider.credentialVariable ?? null) : null,
    quality: figureOf(
      row,
      qualityMetrics[model.stage].map(({ metric }) => metric),
    ),
    latencyMs: health.figures(row, 'stream')?.firstByteMs ?? figureOf(row, latencyMetrics[model.stage].stream),
  }
}

function aliasesOf(spellings: readonly string[], { aliases }: Catalog): string[] {
  return Object.keys(aliases).filter((alias) => spellings.includes(aliases[alias] ?? ''))
}

/**
 * Returns the figure for the default language, or for the model's first language if the model does not support the
 * default language.
 */
function figureOf(row: Row, metrics: readonly string[]): number | null {
  const own = row.model.languages[0]
  const speaksDefault = row.languages === null || row.languages.has(defaultLanguage)
  const language = readLanguage(speaksDefault || own === undefined ? defaultLanguage : own)
  const figures = paths.flatMap((path) => figuresFor(row, path, language))
  for (const metric of metrics) {
    const match = figures.find((figure) => figure.metric === metric && figure.value !== null)
    if (match) return match.value
  }
  return null
}
