/** The record to which a stage writes that another provider serves it. */
import type { Route } from '../../dispatch/request.ts'

type Stage = 'stt' | 'llm' | 'tts'

export interface FailoverRecord {
  /** `from` is null if the first provider of the request has failed before it served. */
  failedOver(stage: Stage, from: Route | null, to: Route): void
}

/** Writes that `to` serves the stage, if another model served it before or other candidates have failed. `from`: the model that served before. */
export function recordRoute(record: FailoverRecord, stage: Stage, from: Route | null, to: Route): void {
  const isOther = from !== null && (from.provider !== to.provider || from.model !== to.model)
  if (isOther || to.failovers > 0) record.failedOver(stage, isOther ? from : null, to)
}
