/** Records that speech to text, the LLM or text to speech is now served by another provider. */
import type { Route } from '../../dispatch/request.ts'

type Stage = 'stt' | 'llm' | 'tts'

export interface FailoverRecord {
  /**
   * Called when provider `to` serves the stage (speech to text, LLM or text to speech) in place of provider `from`.
   * `from` is null if the first provider failed before it produced any output.
   */
  failedOver(stage: Stage, from: Route | null, to: Route): void
}

/**
 * Records a failover if another model served the stage before, or if other candidates have failed for this request.
 * `from` is the previous route.
 */
export function recordRoute(record: FailoverRecord, stage: Stage, from: Route | null, to: Route): void {
  const isOther = from !== null && (from.provider !== to.provider || from.model !== to.model)
  if (isOther || to.failovers > 0) record.failedOver(stage, isOther ? from : null, to)
}
