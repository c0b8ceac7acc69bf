/** Emits models/<name>.ts of the client's package: the types that a client sends or receives. */
import type { AsyncApiDocument, OpenApiDocument } from '../../ir.ts'
import { clientViewsOf } from '../../views.ts'
import { emitTypes } from './types.ts'

export function emitClientTypes(document: OpenApiDocument | AsyncApiDocument): string {
  const views = clientViewsOf(document)
  const types = document.types.filter(({ name }) => views.isUsed(name))
  return commentsBeside(emitTypes(document.file, { types, shared: new Set() }, views, ''))
}

/** Puts a field's comment on the field's line if both fit, so that the package has a third fewer lines. */
export function commentsBeside(text: string): string {
  return text.replaceAll(/^( +)(\/\*\* .* \*\/)\n +(.*)$/gm, (both, indent: string, comment: string, field: string) => {
    const line = `${indent}${comment} ${field}`
    return line.length <= lineMax ? line : both
  })
}

const lineMax = 160
