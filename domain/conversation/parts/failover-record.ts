/** The record to which a stage writes that another provider serves it. */
import type { Route } from '../../dispatch/request.ts'

export interface FailoverRecord {
  /** `from` is null if the first provider of the request has failed before it served. */
  failedOver(stage: 'stt' | 'llm' | 'tts', from: Route | null, to: Route): void
}
