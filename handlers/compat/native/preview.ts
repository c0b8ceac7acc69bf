import { objectiveOf } from '../../../domain/ports/model.ts'
import type { Caller } from '../../../domain/records/organization.ts'
import type { Preview } from '../../../domain/routing/choice.ts'
import type { PreviewQuery } from '../../../domain/routing/preview.ts'
import type { CompatHandlers } from '../../../generated/compat/handlers.ts'
import { wirePreview } from '../../views/preview.ts'

export function previewRouting(preview: (query: PreviewQuery) => Preview): CompatHandlers<Caller>['previewRouting'] {
  return ({ query }, { caller }) => {
    const { stage, language, path, region } = query
    const isSocket = path === 'stream'
    const objective = objectiveOf(query.objective ?? caller.policy.objective ?? 'balanced')
    const routing = { mode: 'auto', objective, ...(region !== undefined && { region }) } as const
    return { status: 200, body: wirePreview(preview({ caller, stage, language, routing, isSocket })) }
  }
}
