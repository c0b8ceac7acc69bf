/**
 * Checks every answer a second time: openapi-backend reads specs/ and shares no code with the generator or the product.
 * It supports neither event streams nor answers outside operations, so its copy of the document has extra operations
 * for both.
 */
import { readFileSync } from 'node:fs'
import { type Document, OpenAPIBackend, SetMatchType } from 'openapi-backend'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { type Answer, type Envelope, readEvents } from './requests.ts'

type Reference = { $ref: string }
type Header = { required?: boolean }
type Media = { schema?: object; 'x-sse-events'?: Record<string, string> }
type Response = { headers: Record<string, Reference>; content: Record<string, Media> }
type Operation = { operationId: string; responses: Record<string, Response | Reference> }
export type ErrorRow = {
  status: number | null
  type: string
  retryable: boolean
  message: string
  hint: string
  headers?: string[]
}
export type Specification = {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { headers: Record<string, Header>; responses: Record<string, Response>; schemas: object }
  'x-error-codes': Record<string, ErrorRow>
}

export const specification = readSpecification()

/** This operation describes the responses outside all operations, such as for unknown paths. */
const unmatched: Operation = {
  operationId: 'unmatched',
  responses: {
    '404': { $ref: '#/components/responses/NotFound' },
    '405': { $ref: '#/components/responses/MethodNotAllowed' },
  },
}
const operations = new Map(
  [...Object.values(specification.paths).flatMap((methods) => Object.values(methods)), unmatched].map((operation) => [
    operation.operationId,
    operation,
  ]),
)
const oracle = createOracle()
const answered = new Set<string>()

/** Asserts that the status is declared, and every header and the body conform to the contract. */
export function conforms(t: Test, operationId: string, answer: Answer): void {
  const { status, headers } = answer
  const name = `${operationId} ${status}`
  answered.add(name)
  const response = declared(operationId, status)
  if (!response) return void t.fail(`${name} is not declared: ${answer.text.slice(0, 300)}`)
  for (const header of requiredHeaders(response)) t.ok(headers.has(header), `${name} carries ${header}`)
  const type = headers.get('content-type') ?? ''
  t.ok(Object.hasOwn(response.content, type), `${name} answers ${type}, which it declares`)
  // openapi-backend's matching `superset` would require the optional headers too. The required headers were checked
  // above.
  const matching = { statusCode: status, setMatchType: SetMatchType.Any }
  const named = oracle.validateResponseHeaders(Object.fromEntries(headers), operationId, matching)
  t.same(named.errors ?? [], [], `${name}: headers`)
  if (type === 'application/json') sameShape(t, name, answer.json<unknown>(), operationId, status)
  if (type === 'text/event-stream')
    for (const { event, data } of readEvents(answer.text)) sameShape(t, `${name} ${event}`, data, `event ${event}`, 200)
  if (status >= 400) sameRow(t, name, answer)
}

/** Asserts that the response conforms to its error code's row in the contract's error table. */
function sameRow(t: Test, name: string, { status, headers, json }: Answer): void {
  const { error } = json<Envelope>()
  const row = specification['x-error-codes'][error.code]
  if (!row) return void t.fail(`${name}: ${error.code} is in no table`)
  const said = { status, type: error.type, retryable: error.retryable }
  t.same(
    said,
    { status: row.status, type: row.type, retryable: row.retryable },
    `${name} ${error.code}: as in the table`,
  )
  for (const header of row.headers ?? []) t.ok(headers.has(header), `${name} ${error.code} carries ${header}`)
  t.equal(error.request_id, headers.get('service-request-id'), `${name}: one request id`)
  t.equal(error.retry_after_seconds?.toString() ?? null, headers.get('retry-after'), `${name}: one time to come back`)
  t.ok(error.hint.length > 0 && error.hint.length <= 512 && !error.hint.includes('\n'), `${name}: a hint of one line`)
}

function sameShape(t: Test, name: string, body: unknown, operationId: string, status: number): void {
  t.same(oracle.validateResponse(body, operationId, status).errors ?? [], [], `${name}: body`)
}

/** Returns the declared statuses never seen by `conforms`, as `operationId status`. */
export function unanswered(): string[] {
  const all = [...operations].flatMap(([id, { responses }]) =>
    Object.keys(responses).map((status) => `${id} ${status}`),
  )
  return all.filter((name) => !answered.has(name))
}

function declared(operationId: string, status: number): Response | undefined {
  const response = operations.get(operationId)?.responses[status]
  if (response && '$ref' in response) return specification.components.responses[nameIn(response)]
  return response
}

function requiredHeaders({ headers }: Response): string[] {
  return Object.entries(headers).flatMap(([name, reference]) =>
    specification.components.headers[nameIn(reference)]?.required ? [name] : [],
  )
}

const nameIn = ({ $ref }: Reference) => $ref.slice($ref.lastIndexOf('/') + 1)

/** Reads the document, with the components of specs/shared.yaml inserted. */
function readSpecification(): Specification {
  const document = readSpec('router.openapi.yaml') as Specification
  const shared = (readSpec('shared.yaml') as Pick<Specification, 'components'>).components
  for (const [section, components] of Object.entries(document.components) as [keyof typeof shared, object][])
    for (const [name, component] of Object.entries(components) as [string, Partial<Reference>][])
      if (component.$ref?.startsWith('./shared.yaml#'))
        Object.assign(components, { [name]: shared[section][name as never] })
  return document
}

function readSpec(file: string): unknown {
  return parse(readFileSync(new URL(`../../specs/${file}`, import.meta.url), 'utf8'))
}

function createOracle(): OpenAPIBackend {
  // The oracle's Ajv refuses discriminator.mapping. Without it the alternatives still differ by their constants.
  const document = JSON.parse(
    JSON.stringify(specification, (key, value: { mapping?: object }) =>
      key === 'discriminator' ? { ...value, mapping: undefined } : value,
    ),
  ) as Specification
  document.paths['/unmatched'] = { get: unmatched }
  for (const [event, schema] of Object.entries(streamedEvents(document))) {
    const content = { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } }
    const operationId = `event ${event}`
    document.paths[`/events/${event}`] = { get: { operationId, responses: { '200': { headers: {}, content } } } }
  }
  // Without `quick` it would validate the document as OpenAPI 3.0.
  const backend = new OpenAPIBackend({
    definition: document as unknown as Document,
    quick: true,
    ajvOpts: { formats: { date: /^\d{4}-\d{2}-\d{2}$/ } },
  })
  // With `quick` the initialization is synchronous, so its promise need not be awaited.
  void backend.init()
  return backend
}

function streamedEvents(document: Specification): Record<string, string> {
  const response = document.paths['/v1/llm/responses']?.['post']?.responses['200'] as Response
  return response.content['text/event-stream']?.['x-sse-events'] ?? {}
}
