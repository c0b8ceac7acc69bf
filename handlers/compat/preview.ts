import type { Caller } from '../../domain/access/organization.ts'
import type { Preview, PreviewQuery } from '../../domain/routing/preview.ts'
import type { CompatHandlers } from '../../generated/compat/handlers.ts'
import type { RoutingPreview } from '../../generated/compat/types.ts'

export function createPreviewRouting(
  preview: (query: PreviewQuery) => Preview,
): CompatHandlers<Caller>['previewRouting'] {
  return ({ query }, { caller }) => {
    const { stage, language } = query
    const objective = query.objective ?? caller.policy.objective ?? 'balanced'
    return {
      status: 200,
      body: wirePreview(preview({ caller, stage, language, routing: { mode: 'auto', objective } })),
    }
  }
}

/** A preview as it goes over the wire. */
export function wirePreview({ stage, language, routing, candidate, runnersUp, ...why }: Preview): RoutingPreview {
  return {
    stage,
    language,
    objective: routing.mode === 'auto' ? routing.objective : null,
    candidate: candidate === null ? null : idOf(candidate),
    runners_up: runnersUp.map(idOf),
    excluded: why.excluded,
    scores: why.scores.map(({ pin, score, parts }) => ({ id: idOf(pin), score, parts })),
    catalog_digest: why.catalogDigest,
  }
}

/** `provider/model` as this surface spells it; ids of models hold slashes, ids of providers do not. */
function idOf(pin: string): string {
  return pin.replace('/', ':')
}
