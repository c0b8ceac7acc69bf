import { defaultLanguage, type Language, readLanguage } from '../catalog/language.ts'
import type { Health } from '../health/health.ts'
import { type Benchmark, type Model, type Objective, type Path, type Stage, stages } from '../ports/model.ts'
import type { Caller } from '../records/organization.ts'
import { type Ask, baseAsk } from './ask.ts'
import type { Chooser } from './chooser.ts'
import { measuredBenchmarks } from './evidence.ts'
import { figuresFor } from './figure-table.ts'
import type { Scored } from './score.ts'

export type ListedModel = {
  model: Model
  pin: string
  /** The model's rank among the models for speech to text, for text to speech or among the LLMs, from 1. */
  rank: number
  /** Null if the model has no figure for the objective's most important part. */
  score: number | null
  /** The figures for the query's language and path only. Live figures have `source: measured`. */
  benchmarks: Benchmark[]
}

export type ModelList = {
  models: ListedModel[]
  catalogDigest: string
  language: string
  objective: Objective
  path: Path
}

export type ModelQuery = { caller: Caller; language?: string; objective?: Objective; path?: Path }

/**
 * Lists the models that this API client's requests can be routed to, best first within speech to text, LLMs and text to
 * speech. The language only selects the figures. Throws the fault `bad_language_tag`.
 */
export function createListModels(chooser: Chooser): (query: ModelQuery) => ModelList {
  return ({ caller, language = defaultLanguage, objective = 'balanced', path = 'stream' }) => {
    const figuresLanguage = readLanguage(language)
    const models = stages.flatMap((stage) => {
      const { candidates } = chooser.choose(listAsk(caller, stage, objective, path, figuresLanguage))
      return candidates.map((scored, index) => listed(scored, index + 1, path, figuresLanguage, chooser.world.health))
    })
    return { models, catalogDigest: chooser.world.catalog.digest(), language: figuresLanguage.tag, objective, path }
  }
}

/**
 * Returns an ask without required capabilities, without the API key's chain (its list of models), and without a voice.
 * So only uncallable models are left out, and all other models are listed, because the client may pin them.
 */
function listAsk(caller: Caller, stage: Stage, objective: Objective, path: Path, figuresLanguage: Language): Ask {
  const base = baseAsk(caller, stage, { mode: 'auto', objective }, undefined)
  const access = { ...base.access, chain: null }
  return { ...base, path, language: null, figuresLanguage, needs: [], voice: null, access }
}

function listed({ row, score }: Scored, rank: number, path: Path, language: Language, health: Health): ListedModel {
  const benchmarks = [...figuresFor(row, path, language), ...measuredBenchmarks(health.figures(row, path), path)]
  return { model: row.model, pin: row.pin, rank, score, benchmarks }
}
