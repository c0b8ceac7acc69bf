import type { ErrorCode } from '../../generated/platform/errors.ts'
import type { ErrorDetails, ValidationIssue } from '../../generated/platform/types.ts'

/** A fault's error code in the platform API. The other fields replace the code's status, message and hint. */
export type Said = {
  code: ErrorCode
  /** The error body has a message and a hint but no code. The code still gives the HTTP status. */
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
