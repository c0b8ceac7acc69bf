import type { ErrorCode } from '../../generated/platform/errors.ts'
import type { ErrorDetails, ValidationIssue } from '../../generated/platform/types.ts'

/** The code of a fault of the platform surface, with the words that replace those of the code. */
export type Said = {
  code: ErrorCode
  /** The answer has words only. The code gives the status. */
  isCodeless?: true
  /** Replaces that of the code. */
  status?: number
  message?: string
  hint?: string
  issues?: ValidationIssue[]
  details?: ErrorDetails
  headers?: Record<string, string>
}
