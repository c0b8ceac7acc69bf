import type { ValidationIssue } from '../../../generated/clients/typescript/models/platform.ts'
import { PlatformApiError } from '../../../generated/clients/typescript/platform.ts'

/** Returns the fields that the server refused. */
export const issuesOf = (error: unknown): readonly ValidationIssue[] =>
  error instanceof PlatformApiError ? (error.envelope?.issues ?? []) : []
