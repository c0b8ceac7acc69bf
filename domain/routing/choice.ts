import { hash } from 'node:crypto'
import type { ExclusionReason } from '../catalog/exclusion.ts'
import type { Stage } from '../ports/model.ts'
import type { Ask, Routing } from './ask.ts'
import type { Exclusion } from './candidates.ts'
import type { Evidence } from './evidence.ts'
import type { Scale } from './figure-table.ts'
import type { Parts, Scored } from './score.ts'
import { weights } from './weights.ts'

type Chosen = {
  ask: Ask
  candidates: readonly Scored[]
  excluded: readonly Exclusion[]
  catalogDigest: string
  /** The scale that the quality figures are compared on. */
  scale: Scale | null
  /** True if the request's preferred region has changed the order. */
  isRegional: boolean
}

/**
 * The result of routing one ask: the candidates, best first, and an exclusion for each other catalog row of the ask's
 * stage (speech to text, LLM or text to speech).
 */
export class Choice {
  readonly ask: Ask
  readonly candidates: readonly Scored[]
  readonly excluded: readonly Exclusion[]
  readonly catalogDigest: string
  readonly scale: Scale | null
  readonly isRegional: boolean
  #record: ChoiceRecord | null = null

  constructor({ ask, candidates, excluded, catalogDigest, scale, isRegional }: Chosen) {
    this.ask = ask
    this.candidates = candidates
    this.excluded = excluded
    this.catalogDigest = catalogDigest
    this.scale = scale
    this.isRegional = isRegional
  }

  /**
   * Returns the choice as a record for storage. The record is made once for each cached choice, because making it for
   * each request takes too long.
   */
  get record(): ChoiceRecord {
    this.#record ??= recordOf(this)
    return this.#record
  }
}

/** A stored choice. Equal explanations have one id, so a thousand requests can refer to one record. */
export type ChoiceRecord = {
  /** The record's id: 132 bits of the SHA-256 hash for `text`. It is short, because every request stores it. */
  id: string
  /** The JSON of a Preview. */
  text: string
}

/** A candidate's score. It includes the factor `successRate`. Only a preview has `evidence`. */
export type PreviewScore = {
  pin: string
  score: number | null
  parts: Parts
  successRate: number
  evidence?: Evidence[]
}

export type Preview = {
  stage: Stage
  language: string | null
  routing: Routing
  /** The first candidate's pin. Null if there is no candidate. */
  candidate: string | null
  runnersUp: string[]
  excluded: { provider: string; model: string; reason: ExclusionReason; detail?: string }[]
  scores: PreviewScore[]
  weights: Record<keyof Parts, number> | null
  catalogDigest: string
  /** Absent if the request preferred no region. */
  region?: { asked: string; hadEffect: boolean }
}

/** Explains a choice for a preview or a record. */
export function explain({ ask, candidates, excluded, catalogDigest, isRegional }: Choice): Preview {
  const [candidate = null, ...runnersUp] = candidates.map(pinOf)
  return {
    stage: ask.stage,
    language: ask.language?.tag ?? null,
    routing: ask.routing,
    candidate,
    runnersUp,
    excluded: excluded.map(({ row, reason, detail }) => {
      return { provider: row.provider.id, model: row.model.id, reason, ...(detail !== undefined && { detail }) }
    }),
    scores: candidates.map(({ row, score, parts, successRate }) => ({ pin: row.pin, score, parts, successRate })),
    weights: ask.routing.mode === 'auto' ? weights[ask.routing.objective] : null,
    catalogDigest,
    ...regionOf(ask.routing, isRegional),
  }
}

function regionOf(routing: Routing, hadEffect: boolean): Pick<Preview, 'region'> {
  const region = routing.mode === 'auto' ? routing.region : undefined
  return region === undefined ? {} : { region: { asked: region, hadEffect } }
}

function pinOf({ row }: Scored): string {
  return row.pin
}

function recordOf(choice: Choice): ChoiceRecord {
  const explained = explain(choice)
  const text = JSON.stringify({ ...explained, routing: withoutFilters(explained.routing) })
  return { id: hash('sha256', text, 'base64url').slice(0, 22), text }
}

/**
 * Returns the routing without the request's lists, because the lists have no size limit. The exclusions show the lists'
 * effect.
 */
function withoutFilters(routing: Routing): Routing {
  return routing.mode === 'auto' ? { mode: 'auto', objective: routing.objective } : routing
}
