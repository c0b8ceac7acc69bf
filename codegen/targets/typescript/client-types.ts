/** Emits models/<name>.ts of the client's package: the types that a client sends or receives. */
import type { AsyncApiDocument, OpenApiDocument } from '../../ir.ts'
import { clientViewsOf } from '../../views.ts'
import { emitTypes } from './types.ts'

export function emitClientTypes(document: OpenApiDocument | AsyncApiDocument): string {
  const views = clientViewsOf(document)
  const types = document.types.filter(({ name }) => views.isUsed(name))
  const text = commentsBeside(emitTypes(document.file, { types, shared: new Set() }, views, ''))
  return text.replaceAll(shortTypes, '$1\n')
}

/** An empty line between two one-line types. */
const shortTypes = /^(export type .*[^{=])\n\n(?=export type .*[^{=]\n)/gm

/**
 * Puts a field's comment on the field's line if both fit, and an object's only field on the object's line. This saves
 * a third of the package's lines.
 */
export function commentsBeside(text: string): string {
  const beside = text.replaceAll(
    /^( +)(\/\*\* .* \*\/)\n +(.*)$/gm,
    (both, indent: string, comment: string, field: string) => oneLine(`${indent}${comment} ${field}`, both),
  )
  return beside.replaceAll(/^(.*\{)\n +(\/\*\* .* \*\/ \S+: .*[^{(])\n *\}$/gm, (both, head: string, field: string) =>
    oneLine(`${head} ${field} }`, both),
  )
}

const oneLine = (line: string, lines: string) => (line.length <= lineMax ? line : lines)
const lineMax = 160
