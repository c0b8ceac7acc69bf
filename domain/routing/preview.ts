import type { Caller } from '../access/organization.ts'
import type { Row } from '../catalog/catalog.ts'
import type { ExclusionReason } from '../catalog/exclusion.ts'
import type { Stage } from '../catalog/model.ts'
import { baseAsk } from './ask.ts'
import type { Choice, Chooser } from './chooser.ts'
import { type Evidence, evidenceOf } from './evidence.ts'
import type { Routing } from './routing.ts'
import type { Parts, Scored } from './score.ts'
import { weights } from './weights.ts'

export type PreviewQuery = {
  caller: Caller
  stage: Stage
  language?: string
  routing: Routing
  /** What a socket would get instead of a one-shot request: recognition asks for another ability there, and is ranked by other figures. */
  isSocket?: boolean
}

/** `successRate` is what the score was multiplied by. `evidence` is there where it was asked for. */
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
  /** The pin that a request would be sent to first; null when there is none. */
  candidate: string | null
  runnersUp: string[]
  excluded: { provider: string; model: string; reason: ExclusionReason; detail?: string }[]
  scores: PreviewScore[]
  weights: Record<keyof Parts, number> | null
  catalogDigest: string
}

/** What a plain request would do, and why, with the figures behind it. Calls no provider. Throws invalid_parameter for a malformed language. */
export function createPreview(chooser: Chooser): (query: PreviewQuery) => Preview {
  return ({ caller, stage, language, routing, isSocket }) => {
    const ask = baseAsk(caller, stage, routing, language)
    const choice = chooser.choose(isSocket && stage === 'stt' ? { ...ask, path: 'stream', needs: ['streaming'] } : ask)
    const preview = explain(choice)
    const rows = choice.candidates.map(({ row }) => row)
    const scores = preview.scores.map((score, i) => {
      return { ...score, evidence: evidenceOf(rows[i] as Row, choice, chooser.world.health) }
    })
    return { ...preview, scores }
  }
}

/** A choice in words. */
export function explain({ ask, candidates, excluded, catalogDigest }: Choice): Preview {
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
  }
}

function pinOf({ row }: Scored): string {
  return row.pin
}
