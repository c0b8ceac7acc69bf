import type { ErrorCode } from '../../generated/platform/errors.ts'
import type { ErrorDetails, ValidationIssue } from '../../generated/platform/types.ts'

/** A platform fault's code. The other fields replace the code's status, message and hint. */
export type Said = {
  code: ErrorCode
  /** The answer has a message and a hint but no code. The code still gives the status. */
  isCodeless?: true
  /** Replaces the code's status. */
  status?: number
  message?: string
  hint?: string
  issues?: ValidationIssue[]
  details?: ErrorDetails
  headers?: Record<string, string>
  /** The value for Retry-After, in seconds. */
  retryAfterS?: number
}
