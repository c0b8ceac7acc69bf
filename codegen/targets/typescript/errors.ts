import { type AsyncApiDocument, type ErrorRow, pascal } from '../../ir.ts'
import { banner, print } from './print.ts'

/** Emits generated/<name>/errors.ts: the error-code table for handlers and the fault writer. */
export function emitErrors(specFile: string, errors: Record<string, ErrorRow>): string {
  const types = [...new Set(Object.values(errors).map((row) => row.type))]
  return `${banner('errors', specFile)}
export type ErrorType = ${types.map((type) => `'${type}'`).join(' | ')}

export type ErrorRow = {
  /** Null where the code only ends a stream that is already established. */
  status: number | null
  type: ErrorType
  retryable: boolean
  message: string
  hint: string
  /** The headers of an answer with this code, besides the usual ones. */
  headers: readonly string[]
}

export const errorCodes = ${print(errors)} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errorCodes
`
}

/** Emits generated/<name>/errors.ts for a channel document. */
export function emitCloseCodes({ file, name, errors }: AsyncApiDocument): string {
  const codes = [...new Set(Object.values(errors).map((row) => String(row.closeCode)))].sort()
  return `${banner('errors', file)}
export type CloseRow = {
  /** The close code that follows the error frame${codes.includes('null') ? '. Null: the socket stays open' : ''}. */
  closeCode: ${codes.join(' | ')}
  retryable: boolean
  message: string
}

export const ${name}Errors = ${print(errors)} as const satisfies Record<string, CloseRow>

export type ${pascal(name)}ErrorCode = keyof typeof ${name}Errors
`
}
