import type { Preview, PreviewScore } from '../../domain/routing/choice.ts'
import type { Evidence } from '../../domain/routing/evidence.ts'
import type { RoutingFigure, RoutingPreview } from '../../generated/compat/types.ts'

/** Writes a preview in the contract's names. */
export function wirePreview({ stage, language, routing, candidate, runnersUp, ...why }: Preview): RoutingPreview {
  return {
    stage,
    language,
    objective: routing.mode === 'auto' ? routing.objective : null,
    candidate: candidate === null ? null : idOf(candidate),
    runners_up: runnersUp.map(idOf),
    excluded: why.excluded,
    scores: why.scores.map(scoreOf),
    catalog_digest: why.catalogDigest,
    ...(why.region && { region: { asked: why.region.asked, had_effect: why.region.hadEffect } }),
  }
}

function scoreOf({ pin, score, parts, successRate, evidence }: PreviewScore): RoutingPreview['scores'][number] {
  const figures = evidence?.map(figureOf)
  return { id: idOf(pin), score, parts, success_rate: successRate, ...(figures && { figures }) }
}

/** Writes a figure. A figure measured by this server has a precise time, but the contract has only the day. */
function figureOf({ asOf, sourceUrl, vendorReported: interested, ...figure }: Evidence): RoutingFigure {
  return {
    ...figure,
    ...(sourceUrl !== undefined && { source_url: sourceUrl }),
    as_of: asOf.slice(0, 10),
    ...(interested !== undefined && { interested }),
  }
}

/**
 * Writes a pinned model as `provider:model`. The first slash separates provider and model, because provider ids contain
 * no slash.
 */
function idOf(pin: string): string {
  return pin.replace('/', ':')
}
