import type { ErrorCode } from '../../generated/platform/errors.ts'
import type { ErrorDetails, ValidationIssue } from '../../generated/platform/types.ts'

/** A platform fault's code, with words that replace the code's. */
export type Said = {
  code: ErrorCode
  /** The answer has words only. The code gives the status. */
  isCodeless?: true
  /** Replaces the code's status. */
  status?: number
  message?: string
  hint?: string
  issues?: ValidationIssue[]
  details?: ErrorDetails
  headers?: Record<string, string>
}
