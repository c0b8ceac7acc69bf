/** generated/<name>/routes.ts: the table that the engine registers and dispatches by. */
import { bodyValidator, paramsValidator, responseValidator } from './emit-validators.ts'
import type { Body, MediaType, OpenApiDocument, Operation, Parameter, Schema } from './ir.ts'
import { isOpenForm, planParts } from './parts.ts'
import { banner, Code, print } from './print.ts'
import { resolveSchema } from './schema.ts'

export function emitRoutes(document: OpenApiDocument, runtimePath: string): string {
  const surface = {
    name: document.name,
    operations: document.operations.map((operation) => operationRow(operation, document.schemas)),
    paths: pathRules(document.operations),
  }
  return `${banner('emit-routes', document.file)}
import type { Surface } from '${runtimePath}/engine/operation.ts'
import * as validators from './validators.ts'

export const ${document.name}Surface: Surface = ${print(surface)}
`
}

/** OpenAPI's /v1/agents/{id} as uWebSockets.js writes it: /v1/agents/:id. The rules have refused what it cannot express. */
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
    body: operation.body && bodyRow(operation.body, operation.bodyLimit, schemas),
    ...(operation.rawBody ? { rawBody: true } : {}),
    validateParams: reference(paramsValidator(operation)),
    validateBody: reference(bodyValidator(operation, schemas)),
    responses: Object.fromEntries(
      operation.responses.map((response) => [
        response.status,
        {
          types: response.content.map((media) => media.type),
          headers: response.headers.map((header) => header.name),
          validate: reference(responseValidator(operation, response)),
          ...eventFormat(response.content),
        },
      ]),
    ),
    deprecation: operation.deprecation,
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
    types: body.content.map((media) => media.type),
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

/** Whether the frames of a stream have names; nothing where there is no stream. */
function eventFormat(content: MediaType[]) {
  const stream = content.find(({ type }) => type === 'text/event-stream')
  return stream ? { eventFormat: stream.eventData === null ? 'named' : 'data' } : {}
}

function reference(validator: string | null): Code | null {
  return validator === null ? null : new Code(`validators.${validator}`)
}

/** What 405, HEAD and OPTIONS answer, path by path. */
function pathRules(operations: Operation[]) {
  const methodsByPath = new Map<string, string[]>()
  for (const { path, method } of operations) {
    // HEAD is answered wherever GET is.
    const own = method === 'get' ? ['get', 'head'] : [method]
    methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), ...own])
  }
  return [...methodsByPath].map(([path, methods]) => ({
    pattern: uwsPattern(path),
    allow: [...methods, 'options'].map((method) => method.toUpperCase()).join(', '),
    refused: shadowed(path, methods, methodsByPath),
  }))
}

/**
 * uWebSockets.js keeps one tree a method: DELETE /v1/providers/known finds no literal in the tree of DELETE and is taken by
 * /v1/providers/:provider, although the literal path exists. Such pairs need a 405 of their own.
 */
function shadowed(path: string, methods: string[], methodsByPath: ReadonlyMap<string, string[]>): string[] {
  const wider = [...methodsByPath].filter(([template]) => template !== path && covers(template, path))
  const taken = wider.flatMap(([, others]) => others).filter((method) => !methods.includes(method))
  return [...new Set(taken)]
}

function covers(template: string, path: string): boolean {
  const wide = template.split('/')
  const narrow = path.split('/')
  return wide.length === narrow.length && wide.every((segment, i) => segment === narrow[i] || segment.startsWith('{'))
}
