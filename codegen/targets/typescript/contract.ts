import type { AsyncApiDocument, OpenApiDocument } from '../../ir.ts'
import { servedDocument } from '../../served-document.ts'
import { banner, quote } from './print.ts'

/**
 * Emits generated/<name>/contract.ts: the bundled document as served text, so that serving needs no file at run time.
 */
export function emitContract(document: OpenApiDocument | AsyncApiDocument): string {
  const json = JSON.stringify(servedDocument(document.source))
  return `${banner('contract', document.file)}
export const ${document.name}Contract = ${quote(json)}
`
}
