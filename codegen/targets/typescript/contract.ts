import type { AsyncApiDocument, OpenApiDocument } from '../../ir.ts'
import { banner, quote } from './print.ts'

/** generated/<name>/contract.ts: the bundled document as the bytes that are served, so that they never depend on a file at run time. */
export function emitContract(document: OpenApiDocument | AsyncApiDocument): string {
  const json = JSON.stringify(document.source)
  return `${banner('contract', document.file)}
export const ${document.name}Contract = ${quote(json)}
`
}
