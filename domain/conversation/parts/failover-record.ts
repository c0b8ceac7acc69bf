/** Records that a stage is now served by another provider. */
import type { Route } from '../../dispatch/request.ts'

type Stage = 'stt' | 'llm' | 'tts'

export interface FailoverRecord {
  /** `from` is null if the first provider failed before it served the request. */
  failedOver(stage: Stage, from: Route | null, to: Route): void
}

/**
 * Writes that `to` serves the stage, if another model served it before or if other candidates have failed. `from` is
 * the previous route.
 */
export function recordRoute(record: FailoverRecord, stage: Stage, from: Route | null, to: Route): void {
  const isOther = from !== null && (from.provider !== to.provider || from.model !== to.model)
  if (isOther || to.failovers > 0) record.failedOver(stage, isOther ? from : null, to)
}
