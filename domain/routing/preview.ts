import type { Row } from '../catalog/catalog.ts'
import type { Stage } from '../ports/model.ts'
import type { Caller } from '../records/organization.ts'
import type { Routing } from './ask.ts'
import { baseAsk } from './ask.ts'
import { explain, type Preview } from './choice.ts'
import type { Chooser } from './chooser.ts'
import { evidenceOf } from './evidence.ts'

export type PreviewQuery = {
  caller: Caller
  stage: Stage
  language?: string
  routing: Routing
  /**
   * If true, previews a socket instead of a one-shot request. Over a socket, recognition needs another capability and
   * other figures.
   */
  isSocket?: boolean
}

/**
 * Explains which route a request without further options would take, with the figures behind it. Calls no provider.
 * Throws the fault `bad_language_tag`.
 */
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
