/**
 * A carrier made from its OpenAPI document. openapi-backend checks the path, the query, the headers and the body of
 * each request on arrival. A field without a schema is a fault too. A request with a fault gets a 422 with the fault.
 * Other requests get the document's example, or an answer made from its schema.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import addFormats from 'ajv-formats'
import { type Context, type Document, OpenAPIBackend, type Request } from 'openapi-backend'
import type { Test } from 'tap'
import { type LackingOperation, lackingOperations } from './lacking-operations.ts'
import { type Json, lookUp } from './openapi-document.ts'

type Given = { status: number; body: unknown }
type Asked = { requestBody?: unknown; query: Json; headers: Json }
type Schema = Json & { properties?: Record<string, Schema>; items?: Schema }

const apiRoot = '/v2'
export const apiKey = 'KEY1'

export async function serveDocument(t: Test, document: Json) {
  /** Collects the faults found in wrong requests. */
  const faults: string[] = []
  /** Collects the answered requests, as `get /calls/{call_control_id} 200`. */
  const answered = new Set<string>()
  const lacking = lackingOperations.filter(
    ({ method, path }) => lookUp(document, ['paths', path, method]) === undefined,
  )
  const next: { status: number | null } = { status: null }
  const backend = createBackend(document)
  const refuse = (name: string, fault: unknown): Given => {
    faults.push(`${name}: ${JSON.stringify(fault)}`)
    return { status: 422, body: { errors: [{ code: '10015', title: 'Bad Request', detail: JSON.stringify(fault) }] } }
  }
  const take = ({ operation, request }: Context): Given => {
    const name = `${operation.method} ${operation.path}`
    const asked = request as Asked
    const problems = [...faultsOfHeaders(operation, asked), ...unreadFields(operation, asked)]
    if (problems.length > 0) return refuse(name, problems)
    const given = answerOf(backend, operation.operationId ?? '', next.status)
    next.status = null
    answered.add(`${name} ${given.status}`)
    return given
  }
  backend.register({
    validationFail: ({ operation, validation }) => refuse(`${operation.method} ${operation.path}`, validation.errors),
    unauthorizedHandler: (): Given => ({ status: 401, body: {} }),
    notFound: ({ request }): Given => {
      const operation = lacking.find((one) => isFor(one, request))
      if (operation === undefined) return refuse(`${request.method} ${request.path}`, 'no such operation')
      answered.add(`${operation.method} ${operation.path} 200`)
      return { status: 200, body: operation.answer }
    },
    notImplemented: take,
  })
  const server = createServer((request, response) => void serve(backend, request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${apiRoot}`,
    faults,
    answered,
    lacking,
    /** The response to the next correct request gets this status, as the document describes it. */
    answersNext: (status: number) => void (next.status = status),
    statusesOf: (method: string, path: string): string[] =>
      Object.keys(lookUp(document, ['paths', path, method, 'responses']) as Json),
  }
}

async function serve(backend: OpenAPIBackend, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const [path = '', query = ''] = (request.url ?? '').split('?')
  const headers = request.headers as Request['headers']
  const asked = { method: request.method ?? '', path, query, headers, ...(body !== '' && { body }) }
  const { status, body: answer } = (await backend.handleRequest(asked)) as Given
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

function createBackend(document: Json): OpenAPIBackend {
  const backend = new OpenAPIBackend({
    definition: document as unknown as Document,
    apiRoot,
    // Without `quick` openapi-backend would validate the document by the rules for OpenAPI 3.0.
    quick: true,
    customizeAjv: (ajv) => addFormats.default(ajv).addFormat('integer', /^\d+$/),
  })
  backend.registerSecurityHandler(
    'bearerAuth',
    ({ request }) => (request as Asked).headers['authorization'] === `Bearer ${apiKey}`,
  )
  // With `quick` the initialization awaits nothing, so its promise can be ignored.
  void backend.init()
  return backend
}

/** Makes a successful response, or the response with `status`. A document may write `4XX` for a status. */
function answerOf(backend: OpenAPIBackend, operationId: string, status: number | null): Given {
  const responses: string[] = Object.keys(backend.getOperation(operationId)?.responses ?? {})
  const known = [String(status), `${String(status)[0]}XX`, 'default'].find((name) => responses.includes(name))
  if (status === null || known === undefined) {
    const made = backend.mockResponseForOperation(operationId)
    return { status: made.status, body: made.mock }
  }
  // The type of `code` is a number, but openapi-backend also accepts a response name such as `4XX`.
  return { status, body: backend.mockResponseForOperation(operationId, { code: known as never }).mock }
}

function faultsOfHeaders(operation: Context['operation'], { headers }: Asked): string[] {
  const { content = {} } = (operation.requestBody ?? {}) as { content?: Json }
  const sent = headers['content-type']
  const known = Object.keys(content)
  return known.length === 0 || known.includes(String(sent))
    ? []
    : [`content-type ${String(sent)} is none of ${known.join()}`]
}

/**
 * Returns the fields in a request that have no schema. The schemas are open, so the carrier would silently ignore an
 * unknown field.
 */
function unreadFields(operation: Context['operation'], { requestBody: body, query, headers }: Asked): string[] {
  const { content } = (operation.requestBody ?? {}) as { content?: Record<string, { schema: Schema }> }
  const schema = content?.[String(headers['content-type'])]?.schema
  const ofBody = body === undefined ? [] : schema === undefined ? ['a body'] : unread(schema, body, 'body')
  const parameters = (operation.parameters ?? []) as { name: string; in: string; schema: Schema }[]
  const ofQuery = parameters
    .filter((parameter) => parameter.in === 'query' && query[parameter.name] !== undefined)
    .flatMap((parameter) => unread(parameter.schema, query[parameter.name], parameter.name))
  return [...ofBody, ...ofQuery]
}

function unread(schema: Schema, value: unknown, at: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each, i) => unread(schema.items ?? {}, each, `${at}.${i}`))
  if (typeof value !== 'object' || value === null) return []
  const known = fieldsOf(schema)
  if (known === 'any') return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const [first, ...others] = (known.get(name) ?? []).map((each) => unread(each, inner, `${at}.${name}`))
    // A field may have several schemas, and must match one of them.
    return first === undefined
      ? [`${at}.${name} is not read`]
      : others.reduce((a, b) => (b.length < a.length ? b : a), first)
  })
}

/** Collects the schemas for each field. Returns `any` if the schema names no fields, so every field is allowed. */
function fieldsOf(schema: Schema): Map<string, Schema[]> | 'any' {
  const parts = ['allOf', 'oneOf', 'anyOf'].flatMap((name) => (schema[name] ?? []) as Schema[])
  const fields = new Map<string, Schema[]>()
  for (const part of [schema.properties ?? {}, ...parts.map(fieldsOf)]) {
    if (part === 'any') continue
    for (const [name, inner] of part instanceof Map
      ? part
      : Object.entries(part).map(([key, one]) => [key, [one]] as const))
      fields.set(name, [...(fields.get(name) ?? []), ...inner])
  }
  return fields.size === 0 ? 'any' : fields
}

function isFor({ method, path }: LackingOperation, request: Request): boolean {
  const pattern = new RegExp(`^${apiRoot}${path.replace(/\{\w+\}/g, '[^/]+')}$`)
  return request.method.toLowerCase() === method && pattern.test(request.path)
}
