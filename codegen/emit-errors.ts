import type { ErrorRow } from './ir.ts'
import { banner, print } from './print.ts'

/** generated/<name>/errors.ts: the table of error codes that domain, handlers and the fault writer read. */
export function emitErrors(specFile: string, errors: Record<string, ErrorRow>): string {
  const types = [...new Set(Object.values(errors).map((row) => row.type))]
  return `${banner('emit-errors', specFile)}
export type ErrorType = ${types.map((type) => `'${type}'`).join(' | ')}

export type ErrorRow = {
  /** Null where the code only ever ends a stream that is already established. */
  status: number | null
  type: ErrorType
  retryable: boolean
  message: string
  hint: string
  /** What an answer with this code carries besides the usual headers. */
  headers: readonly string[]
}

export const errorCodes = ${print(errors)} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errorCodes
`
}
