import type { Row } from '../catalog/catalog.ts'
import type { Fault } from '../records/fault.ts'
import type { Access, Ask } from './ask.ts'
import { filterCandidates, type World } from './candidates.ts'
import { Choice } from './choice.ts'
import { FigureTables } from './figure-table.ts'
import { RadixSort } from './radix-sort.ts'
import { refusal } from './refusal.ts'
import { rank, type Scored } from './score.ts'

/**
 * Limits the choices in memory. An ask contains text from API clients, so the number of different asks has no natural
 * limit.
 */
const cachedMax = 1000

/**
 * Turns an ask (the input for choosing a route) into candidates, for requests, preview and the models list. A choice is
 * kept until a row, a provider or the health changes, because ranking takes far more time than a request can spare.
 */
export class Chooser {
  readonly #world: World
  readonly #tables = new FigureTables()
  readonly #sort = new RadixSort()
  readonly #choices = new Map<string, Choice>()
  /**
   * A number for each `Access`. A cache key contains this number instead of the access, because the access may contain
   * long lists.
   */
  readonly #numbers = new Map<string, number>()
  #numberOf = new WeakMap<Access, number>()
  #catalogVersion = -1
  #healthVersion = -1

  constructor(world: World) {
    this.#world = world
  }

  get world(): World {
    return this.#world
  }

  /** Returns the choice for an ask. Never throws, because a choice without candidates is a valid result. */
  choose(ask: Ask): Choice {
    this.#forgetIfChanged()
    const key = `${this.#number(ask.access)} ${textOf(ask)}`
    const cached = this.#choices.get(key)
    if (cached) return cached
    const choice = this.#choose(ask)
    if (this.#choices.size >= cachedMax) this.#choices.clear()
    this.#choices.set(key, choice)
    return choice
  }

  #number(access: Access): number {
    const cached = this.#numberOf.get(access)
    if (cached !== undefined) return cached
    if (this.#numbers.size >= cachedMax) this.#forget()
    const text = JSON.stringify(access)
    const number = this.#numbers.get(text) ?? this.#numbers.size
    this.#numbers.set(text, number)
    this.#numberOf.set(access, number)
    return number
  }

  #forget(): void {
    this.#choices.clear()
    this.#numbers.clear()
    this.#numberOf = new WeakMap()
  }

  /** Returns the choice for an ask. If it has no candidate, this throws the fault from `refusal`. */
  chooseSome(ask: Ask): Choice {
    const choice = this.choose(ask)
    if (choice.candidates.length > 0) return choice
    throw this.refusal(choice)
  }

  /**
   * Returns the fault for a choice without candidates. The exclusions are computed again, because the waiting time
   * shrinks while a choice is cached. If a candidate has become callable since the choice, the request may be sent
   * again at once.
   */
  refusal(choice: Choice): Fault {
    const { catalog } = this.#world
    const { candidates, excluded } = this.#choose(choice.ask)
    if (candidates.length === 0) return refusal(choice.ask, excluded, catalog)
    const back = choice.excluded.map((each) => (each.retryAfterMs === undefined ? each : { ...each, retryAfterMs: 0 }))
    return refusal(choice.ask, back, catalog)
  }

  #choose(ask: Ask): Choice {
    const { catalog, health } = this.#world
    const { stage, path, figuresLanguage, gender, language } = ask
    const { rows, excluded } = filterCandidates(ask, this.#world)
    const table = this.#tables.of(catalog.stage(stage), stage, path, figuresLanguage)
    const projection = { stage, path, objective: objectiveOf(ask), region: regionOf(ask), gender, language }
    const standing = {
      live: (row: Row) => health.figures(row, path),
      suspect: (row: Row) => health.suspects(row.provider),
    }
    const { scored, scale, isRegional } = rank(rows, table, projection, standing, this.#sort)
    const candidates = chained(scored, ask)
    return new Choice({ ask, candidates, excluded, catalogDigest: catalog.digest(), scale, isRegional })
  }

  #forgetIfChanged(): void {
    const catalogVersion = this.#world.catalog.version()
    const healthVersion = this.#world.health.version()
    if (catalogVersion === this.#catalogVersion && healthVersion === this.#healthVersion) return
    this.#choices.clear()
    this.#catalogVersion = catalogVersion
    this.#healthVersion = healthVersion
  }
}

/**
 * Returns the ask as a string, but without its `access`. Equal asks have equal strings. JSON.stringify would double the
 * time to find a cached choice.
 */
function textOf({
  stage,
  path,
  routing,
  language,
  detectsLanguage,
  figuresLanguage,
  needs,
  voice,
  gender,
  audio,
}: Ask): string {
  const route = routing.mode === 'explicit' ? quoted(routing.provider) + quoted(routing.model) : JSON.stringify(routing)
  const rest = audio === null ? '' : JSON.stringify(audio)
  const spoken = voice === null ? '' : quoted(voice)
  return `${stage} ${path} ${route} ${language?.tag ?? '-'} ${detectsLanguage} ${figuresLanguage.tag} ${needs.join()} ${spoken} ${gender ?? ''} ${rest}`
}

/**
 * Returns a client's string with its length in front, so that different pairs of strings never form the same cache key.
 */
function quoted(text: string): string {
  return `${text.length}:${text}`
}

function objectiveOf({ routing }: Ask) {
  return routing.mode === 'auto' ? routing.objective : 'balanced'
}

function regionOf({ routing }: Ask): string | undefined {
  return routing.mode === 'auto' ? routing.region : undefined
}

/** If the API key has a chain (an ordered list of models), sorts the candidates by the chain instead of by score. */
function chained(ranked: Scored[], { access, routing }: Ask): Scored[] {
  const chain = routing.mode === 'auto' ? access.chain : null
  return chain === null ? ranked : ranked.sort((a, b) => chain.indexOf(a.row.pin) - chain.indexOf(b.row.pin))
}
