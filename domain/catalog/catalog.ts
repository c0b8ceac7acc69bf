import { createHash } from 'node:crypto'
import { type Model, type Path, type Price, type Stage, stages } from '../ports/model.ts'
import type { Provider } from '../ports/provider.ts'
import type { Aliases } from '../records/aliases.ts'
import { baseOf } from './language.ts'

/** A model with its provider. The other members are worked out once, because every decision reads them. */
export type Row = {
  model: Model
  provider: Provider
  /** `provider/model`, valid as routing.model. */
  pin: string
  /** Unique over the catalog: two stages may share a pin. Outlives a rebuild. */
  key: string
  /** False for a model that the catalog does not have and a request pinned all the same. */
  isListed: boolean
  /** Place in the catalog: the last tie-break. */
  order: number
  /** Base languages; null where the row takes any. */
  languages: ReadonlySet<string> | null
  voices: ReadonlySet<string>
  /** The prices that bill an attempt on this path. */
  prices: Readonly<Record<Path, readonly Price[]>>
}

/** The model of a row as metrics name it: their names must be a closed set, and callers may pin any name. */
export function labelOf({ model, isListed }: Row): string {
  return isListed ? model.id : 'unlisted'
}

const speakersMax = 500
/** Callers may pin any name, so the number of unlisted rows has no natural bound. */
const unlistedMax = 200
/** Ids as vendors write them. The ledger keeps the id, so a sentence or a long text must not pass for one. */
const unlistedId = /^[\w@][\w.:/@+-]{0,255}$/

/**
 * All models that configured providers offer. `version` changes when a choice made from it may come out differently: rows were replaced
 * (a server on loopback was found), or a provider became available or unavailable.
 */
export class Catalog {
  #providers: readonly Provider[] = []
  #models = new Map<Provider, readonly Model[]>()
  #stages: Record<Stage, Row[]> = { stt: [], tts: [], llm: [] }
  #byKey = new Map<string, Row>()
  #unavailable = new Map<string, string | null>()
  readonly #speakers = new Map<string, Uint8Array>()
  readonly #unlisted = new Map<string, Row>()
  #version = 0
  #digest: string | null = null

  /** The aliases of every caller. */
  readonly aliases: Aliases

  constructor(providers: readonly Provider[], aliases: Aliases = {}) {
    this.aliases = aliases
    this.replace(providers)
  }

  replace(providers: readonly Provider[]): void {
    const rows = providers.flatMap((provider) => provider.models.map((model) => ({ provider, model }))).map(toRow)
    const byKey = new Map(rows.map((row) => [row.key, row]))
    if (byKey.size < rows.length) throw new Error(`the catalog lists ${repeated(rows)} twice`)
    this.#stages = { stt: ofStage(rows, 'stt'), tts: ofStage(rows, 'tts'), llm: ofStage(rows, 'llm') }
    this.#byKey = byKey
    this.#providers = providers
    this.#models = new Map(providers.map((provider) => [provider, provider.models]))
    this.#unavailable.clear()
    this.#speakers.clear()
    this.#unlisted.clear()
    this.#digest = null
    this.#version += 1
  }

  /** In catalog order. */
  stage(stage: Stage): readonly Row[] {
    return this.#stages[stage]
  }

  find(stage: Stage, provider: string, model: string): Row | undefined {
    return this.#byKey.get(keyOf(stage, `${provider}/${model}`))
  }

  /**
   * The row of a model that the catalog does not have; undefined where its provider cannot serve it, or the id is no
   * model id. It is in no list and in no digest.
   */
  unlisted(stage: Stage, provider: string, model: string): Row | undefined {
    const key = keyOf(stage, `${provider}/${model}`)
    const isListed = stages.some((each) => this.#byKey.has(keyOf(each, `${provider}/${model}`)))
    if (isListed || !unlistedId.test(model)) return undefined
    const known = this.#unlisted.get(key)
    if (known) return known
    const owner = this.#providers.find(({ id }) => id === provider)
    const made = owner?.unlisted?.(stage, model)
    if (!owner || !made) return undefined
    const row = { ...toRow({ provider: owner, model: made }, this.#byKey.size), isListed: false }
    if (this.#unlisted.size >= unlistedMax) this.#unlisted.clear()
    this.#unlisted.set(key, row)
    return row
  }

  /** Whether a provider of this id is configured, also one that has no models now. */
  hasProvider(id: string): boolean {
    return this.#providers.some((provider) => provider.id === id)
  }

  /** The provider that gives such ids to its models of this stage. */
  ownerOf(stage: Stage, model: string): Provider | undefined {
    return this.#providers.find((provider) => provider.isOwn?.(stage, model))
  }

  /** 1 at the `order` of each row that takes this base language. */
  speakers(base: string): Uint8Array {
    const known = this.#speakers.get(base)
    if (known) return known
    const speakers = new Uint8Array(this.#byKey.size)
    for (const { order, languages } of this.#byKey.values())
      if (languages === null || languages.has(base)) speakers[order] = 1
    // Callers may send any tag, so the number of languages has no natural bound.
    if (this.#speakers.size >= speakersMax) this.#speakers.clear()
    this.#speakers.set(base, speakers)
    return speakers
  }

  /** True when no provider is unavailable, as of the last call of `version`. */
  get isAllAvailable(): boolean {
    for (const reason of this.#unavailable.values()) if (reason !== null) return false
    return true
  }

  /** The reason, or null, as of the last call of `version`. */
  unavailable(provider: Provider): string | null {
    return this.#unavailable.get(provider.id) ?? null
  }

  version(): number {
    // A server on loopback was found after the start: its provider now has rows.
    if (this.#providers.some((provider) => provider.models !== this.#models.get(provider)))
      this.replace(this.#providers)
    for (const provider of this.#providers) {
      const reason = provider.unavailable()
      if (reason === this.unavailable(provider)) continue
      this.#unavailable.set(provider.id, reason)
      this.#version += 1
    }
    return this.#version
  }

  /** `sha256:` over the rows. Neither the order in which their providers were configured nor their availability changes it. */
  digest(): string {
    this.#digest ??= `sha256:${createHash('sha256').update(canonicalRows(this.#byKey)).digest('hex')}`
    return this.#digest
  }
}

function toRow({ provider, model }: { provider: Provider; model: Model }, order: number): Row {
  const pin = `${provider.id}/${model.id}`
  const languages = model.languages.includes('*') ? null : new Set(model.languages.map(baseOf))
  const voices = new Set(model.voices.map((voice) => voice.id))
  const prices = { stream: pricesOn(model, 'stream'), batch: pricesOn(model, 'batch') }
  return { model, provider, pin, key: keyOf(model.stage, pin), isListed: true, order, languages, voices, prices }
}

function pricesOn({ prices }: Model, path: Path): readonly Price[] {
  return prices.filter((price) => (price.path ?? path) === path)
}

function keyOf(stage: Stage, pin: string): string {
  return `${stage}:${pin}`
}

function ofStage(rows: Row[], stage: Stage): Row[] {
  return rows.filter((row) => row.model.stage === stage)
}

function repeated(rows: Row[]): string {
  const seen = new Set<string>()
  return rows.find((row) => seen.size === seen.add(row.key).size)?.key ?? ''
}

/** The fields of every row come in one order, so that equal rows have equal text. The list of names orders them. */
function canonicalRows(byKey: ReadonlyMap<string, Row>): string {
  const models = [...byKey.keys()].sort().map((key) => hashed(byKey.get(key)?.model))
  const names = new Set<string>()
  addFieldNames(models, names)
  return JSON.stringify(models, [...names].sort())
}

/**
 * The model as the digest has always hashed it: `vendorReported` under its first name, `interested`. Clients compare digests, so that
 * renaming a field must not change the digest of an unchanged catalog.
 */
function hashed(model: Model | undefined): object | undefined {
  const benchmarks = model?.benchmarks.map(({ vendorReported: interested, ...benchmark }) => ({
    ...benchmark,
    interested,
  }))
  return model && { ...model, benchmarks }
}

function addFieldNames(value: unknown, names: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) addFieldNames(item, names)
    return
  }
  for (const name in value) {
    names.add(name)
    addFieldNames((value as Record<string, unknown>)[name], names)
  }
}
