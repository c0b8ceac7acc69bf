/** Emits generated/<name>/routes.ts: the HTTP engine's table for registering and dispatching operations. */

import type { Body, MediaType, OpenApiDocument, Operation, Parameter, Response } from '../../ir.ts'
import { isOpenForm, planParts } from '../../parts.ts'
import { resolveSchema, type Schema } from '../../schema.ts'
import { bodyValidator, paramsValidator } from '../../validator-plan.ts'
import { handlerHeaders } from './answer-headers.ts'
import { banner, Code, print, printKey } from './print.ts'

export function emitRoutes(document: OpenApiDocument, runtimePath: string): string {
  const surface = {
    name: document.name,
    operations: document.operations.map((operation) => operationRow(operation, document.schemas)),
    paths: pathRules(document.operations),
  }
  return `${banner('routes', document.file)}
import type { ResponseShape, Surface } from '${runtimePath}/engine/operation.ts'
import * as validators from './validators.ts'

/** The answers that the document names. Operations refer to them. */
const answers = ${print(namedAnswers(document.operations))} satisfies Record<string, ResponseShape>

export const ${document.name}Surface: Surface = ${print(surface)}
`
}

/**
 * Rewrites /v1/agents/{id} as /v1/agents/:id for uWebSockets.js. The rules have refused paths that it cannot express.
 */
export function uwsPattern(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1')
}

function operationRow(operation: Operation, schemas: Record<string, Schema>): Record<string, unknown> {
  const parameters = (where: Parameter['in']) => operation.parameters.filter((parameter) => parameter.in === where)
  return {
    id: operation.id,
    method: operation.method,
    path: operation.path,
    pattern: uwsPattern(operation.path),
    pathParams: [...operation.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]),
    query: parameters('query').map((parameter) => queryParam(parameter, schemas)),
    headers: parameters('header').map(headerParam),
    scope: operation.scope,
    role: operation.role,
    ...(operation.audit === null || operation.audit === 'none' ? {} : { audit: operation.audit }),
    body: operation.body && bodyRow(operation.body, operation.bodyLimit, schemas),
    ...(operation.rawBody ? { rawBody: true } : {}),
    ...(operation.noStore ? { noStore: true } : {}),
    validateParams: reference(paramsValidator(operation)),
    validateBody: reference(bodyValidator(operation, schemas)),
    responses: Object.fromEntries(
      operation.responses.map((response) => [response.status, answerReference(response) ?? answerRow(response)]),
    ),
    deprecation: operation.deprecation,
  }
}

/**
 * Collects the named error responses. Most responses in an API are the same few errors, so each error has one row, and
 * operations refer to it.
 */
function namedAnswers(operations: Operation[]): Record<string, unknown> {
  const named = operations.flatMap(({ responses }) =>
    responses.flatMap((response) => (response.component === null ? [] : [[response.component, answerRow(response)]])),
  )
  return Object.fromEntries(named) as Record<string, unknown>
}

function answerReference({ component }: Response): Code | null {
  if (component === null) return null
  const key = printKey(component)
  return new Code(key === component ? `answers.${key}` : `answers[${key}]`)
}

function answerRow({ content, headers }: Response): Record<string, unknown> {
  return {
    types: content.map((media) => media.type),
    headers: handlerHeaders(headers).map(({ name }) => name),
    ...eventRow(content),
  }
}

function queryParam({ name, schema }: Parameter, schemas: Record<string, Schema>) {
  const target = resolveSchema(schemas, schema)
  const array = typeof target === 'object' && target.type === 'array'
  const item = array ? resolveSchema(schemas, target.items ?? true) : target
  const type = typeof item === 'object' ? item.type : undefined
  const isParsed = type === 'integer' || type === 'number' || type === 'boolean'
  return { name, type: isParsed ? type : 'string', array }
}

function headerParam({ name, required, bytesMax, content }: Parameter) {
  return { name, required, ...(bytesMax === null ? {} : { bytesMax }), ...(content === null ? {} : { isJson: true }) }
}

function bodyRow(body: Body, limit: Operation['bodyLimit'], schemas: Record<string, Schema>) {
  const multipart = body.content.find((media) => media.type === 'multipart/form-data')
  return {
    required: body.required,
    types: body.takesAnyType ? ['*/*'] : body.content.map((media) => media.type),
    parts: multipart ? partRows(multipart, schemas) : [],
    partsOrdered: multipart?.partOrder !== null && multipart !== undefined,
    partsOpen: multipart !== undefined && isOpenForm(multipart, schemas),
    limit,
  }
}

function partRows(media: MediaType, schemas: Record<string, Schema>) {
  return planParts(media, schemas).map(({ name, kind, isList, required }) => ({
    name,
    kind: kind === 'text' && isList ? 'texts' : kind,
    required,
  }))
}

/** Returns the row's entry for an event stream: whether its frames have names. {} without a stream. */
function eventRow(content: MediaType[]) {
  const stream = content.find(({ type }) => type === 'text/event-stream')
  return stream ? { eventFormat: stream.eventData === null ? 'named' : 'data' } : {}
}

function reference(validator: string | null): Code | null {
  return validator === null ? null : new Code(`validators.${validator}`)
}

/** Lists each path's methods, for 405 responses and for responses to OPTIONS. */
function pathRules(operations: Operation[]) {
  const methodsByPath = new Map<string, string[]>()
  for (const { path, method } of operations) {
    // The engine serves HEAD for every path that has GET.
    const own = method === 'get' ? ['get', 'head'] : [method]
    methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), ...own])
  }
  return [...methodsByPath].map(([path, methods]) => ({
    pattern: uwsPattern(path),
    allow: [...methods, 'options'].map((method) => method.toUpperCase()).join(', '),
  }))
}
