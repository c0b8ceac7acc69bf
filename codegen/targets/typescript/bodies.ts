/** The types of request bodies and streamed events. Handlers and clients share them. Only the bytes' type differs. */
import type { Body, MediaType, Response } from '../../ir.ts'
import { planParts } from '../../parts.ts'
import type { Schema } from '../../schema.ts'
import type { View } from '../../views.ts'
import { printKey, printType, quote } from './print.ts'
import type { TypeNames } from './type-names.ts'

/** `bytes` is the type for a body or part that is not read as JSON or text. */
export type BodyStyle = { view: View; bytes: string; indent: string }

export function emitBody(body: Body, schemas: Record<string, Schema>, types: TypeNames, style: BodyStyle): string {
  const kinds = body.content.map((media) => {
    if (media.type === 'multipart/form-data') return emitParts(media, schemas, types, style)
    if (media.type !== 'application/json' || media.value === null) return style.bytes
    return types.print(media.value, style.view, style.indent)
  })
  return [...new Set(kinds)].join(' | ')
}

/** Emits a multipart body's object type, in part order. Validation fills in defaults only for text parts. */
function emitParts(media: MediaType, schemas: Record<string, Schema>, types: TypeNames, style: BodyStyle): string {
  const { view, bytes, indent } = style
  const members = planParts(media, schemas).map(({ name, kind, required, fallback, type }) => {
    const isThere = required || (view === 'received' && kind === 'text' && fallback !== undefined)
    const text = kind === 'bytes' ? bytes : types.print(type, view, `${indent}  `)
    return `${printKey(name)}${isThere ? '' : '?'}: ${text}`
  })
  return printType(members, indent)
}

/** Returns '' for an operation without an event stream. */
export function emitEventUnion(name: string, responses: readonly Response[], types: TypeNames): string {
  const content = responses.flatMap((response) => response.content)
  const events = content.flatMap((media) => Object.entries(media.events))
  if (events.length === 0) return emitUnnamedEvent(name, content, types)
  const arms = events.map(
    ([event, component]) => `  | { event: ${quote(event)}; data: ${types.component(component, 'answered')} }\n`,
  )
  return `export type ${name}Event =\n${arms.join('')}\n`
}

/** Emits the event type for frames without a name. Each frame contains a JSON value, except the last line `[DONE]`. */
function emitUnnamedEvent(name: string, content: readonly MediaType[], types: TypeNames): string {
  const stream = content.find((media) => media.eventData !== null)
  if (!stream?.eventData) return ''
  const mark = stream.terminalEvents.includes('[DONE]') ? " | { data: null; raw: '[DONE]' }" : ''
  return `export type ${name}Event = { data: ${types.component(stream.eventData, 'answered')} }${mark}\n\n`
}
