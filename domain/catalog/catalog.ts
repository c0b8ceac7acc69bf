import { createHash } from 'node:crypto'
import { type Model, type Path, type Price, type Stage, stages } from '../ports/model.ts'
import type { Installable, Provider } from '../ports/provider.ts'
import type { Aliases } from '../records/aliases.ts'
import { baseOf } from './language.ts'

/** A model with its provider. The other fields are computed once, because every routing decision reads them. */
export type Row = {
  model: Model
  provider: Provider
  /** `provider/model`. Requests may send it as `routing.model`. */
  pin: string
  /**
   * Identifies the row in the catalog. The pin is not enough, because a speech-to-text model and an LLM, for example,
   * may have the same pin. The key stays the same when the rows are replaced.
   */
  key: string
  /** False if the catalog does not contain the model, and a request pinned it by its name. */
  isListed: boolean
  /** The row's index in the catalog. It decides the rank among otherwise equal rows. */
  order: number
  /** Base languages, such as `es`. Null if the model accepts any language. */
  languages: ReadonlySet<string> | null
  voices: ReadonlySet<string>
  /** The prices for an attempt, by path: `stream` or `batch`. */
  prices: Readonly<Record<Path, readonly Price[]>>
}

/**
 * Returns the row's model name in metrics. Labels must have few values, but API clients may pin any name, so unlisted
 * models share one label.
 */
export function labelOf({ model, isListed }: Row): string {
  return isListed ? model.id : 'unlisted'
}

const speakersMax = 500
/** API clients may pin any name, so the cache of unlisted rows needs a limit. */
const unlistedMax = 200
/** The form of vendors' model ids. The ledger stores the id, so sentences and long texts are refused. */
const unlistedId = /^[\w@][\w.:/@+-]{0,255}$/

/**
 * All models from the configured providers. `version` changes when a routing choice may come out differently: rows were
 * replaced (a model server was found on this machine), or a provider became available or unavailable.
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

  /** Model aliases for all API clients. */
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

  /** Returns the rows of speech to text, LLMs or text to speech, in catalog order. */
  stage(stage: Stage): readonly Row[] {
    return this.#stages[stage]
  }

  find(stage: Stage, provider: string, model: string): Row | undefined {
    return this.#byKey.get(keyOf(stage, `${provider}/${model}`))
  }

  /**
   * Makes the row for a model outside the catalog. Returns undefined if its provider cannot serve it, or if the id is
   * malformed. The row is not listed and is not part of the digest.
   */
  unlisted(stage: Stage, provider: string, model: string): Row | undefined {
    const key = keyOf(stage, `${provider}/${model}`)
    const isListed = stages.some((each) => this.#byKey.has(keyOf(each, `${provider}/${model}`)))
    if (isListed || !unlistedId.test(model)) return undefined
    const cached = this.#unlisted.get(key)
    if (cached) return cached
    const owner = this.#providers.find(({ id }) => id === provider)
    const made = owner?.unlisted?.(stage, model)
    if (!owner || !made) return undefined
    const row = { ...toRow({ provider: owner, model: made }, this.#byKey.size), isListed: false }
    if (this.#unlisted.size >= unlistedMax) this.#unlisted.clear()
    this.#unlisted.set(key, row)
    return row
  }

  /**
   * Returns the models for this stage (speech to text, LLM or text to speech) that the operator may add with a command.
   */
  installable(stage: Stage): Installable[] {
    return this.#providers
      .flatMap((provider) => provider.installable?.() ?? [])
      .filter(({ model }) => model.stage === stage)
  }

  /** Returns true if a provider with this id is configured, even without models. */
  hasProvider(id: string): boolean {
    return this.#providers.some((provider) => provider.id === id)
  }

  /** Finds the provider with this id, if it has models at present. */
  provider(id: string): Provider | undefined {
    return this.#providers.find((provider) => provider.id === id && provider.models.length > 0)
  }

  /** Finds the provider whose model ids for this stage (speech to text, LLM or text to speech) look like this id. */
  ownerOf(stage: Stage, model: string): Provider | undefined {
    return this.#providers.find((provider) => provider.isOwn?.(stage, model))
  }

  /** Returns a table indexed by `Row.order`: 1 if the row supports this base language, otherwise 0. */
  speakers(base: string): Uint8Array {
    const cached = this.#speakers.get(base)
    if (cached) return cached
    const speakers = new Uint8Array(this.#byKey.size)
    for (const { order, languages } of this.#byKey.values())
      if (languages === null || languages.has(base)) speakers[order] = 1
    // API clients may send any tag, so the cache of languages needs a limit.
    if (this.#speakers.size >= speakersMax) this.#speakers.clear()
    this.#speakers.set(base, speakers)
    return speakers
  }

  /** True if all providers were available when `version` was last called. */
  get isAllAvailable(): boolean {
    for (const reason of this.#unavailable.values()) if (reason !== null) return false
    return true
  }

  /** Returns why the provider was unavailable when `version` was last called, or null if it was available. */
  unavailable(provider: Provider): string | null {
    return this.#unavailable.get(provider.id) ?? null
  }

  version(): number {
    // Rows changed because a model server on this machine was found after the start.
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

  /** Returns `sha256:` and a hash of all rows. The providers' order and availability do not change it. */
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

/** Writes the rows as canonical text: all fields in one sorted order, so equal rows give equal text. */
function canonicalRows(byKey: ReadonlyMap<string, Row>): string {
  const models = [...byKey.keys()].sort().map((key) => hashed(byKey.get(key)?.model))
  const names = new Set<string>()
  addFieldNames(models, names)
  return JSON.stringify(models, [...names].sort())
}

/**
 * Returns the model as the digest contains it: with `interested`, the earlier name of `vendorReported`. Clients compare
 * digests, so a renamed field must not change the digest of an unchanged catalog.
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
