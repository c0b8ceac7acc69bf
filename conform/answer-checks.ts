/** The checks on a single answer (an HTTP response). They are made on every answer. */
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import { parseList } from 'structured-headers'
import { type AnswerCheck, type Answered, faultsIf, jsonOf, mediaOf, placeOf, responseOf, typeOf } from './answer.ts'
import type { Header, Response } from './contract.ts'
import { type Envelope, envelopeOf } from './envelope.ts'
import type { Found } from './results.ts'
import { datesIn, undeclaredIn } from './schema-walk.ts'
import { streamChecks } from './stream-checks.ts'
import type { Surface } from './surfaces.ts'

const noSuccess = 'no request succeeded'
const noJson = 'no answer was JSON'

const bodyChecks: readonly AnswerCheck[] = [
  { number: 8, name: 'the status is declared', otherwise: 'no request was sent', judge: declaredStatus },
  { number: 9, name: 'the content type is declared', otherwise: 'no answer had a body', judge: declaredType },
  { number: 10, name: 'JSON is valid by our validators', otherwise: noJson, judge: ourOpinion },
  { number: 11, name: 'JSON is valid by openapi-backend', otherwise: noJson, judge: secondOpinion },
  { number: 12, name: 'JSON has no undeclared field', warns: true, otherwise: noJson, judge: undeclaredFields },
  { number: 13, name: 'dates are RFC 3339', otherwise: 'no answer had a date', judge: dates },
  { number: 14, name: 'required headers are present', otherwise: 'no answer has one', judge: requiredHeaders },
  { number: 15, name: 'headers are declared', warns: true, otherwise: 'no answer', judge: undeclaredHeaders },
  { number: 16, name: 'header values fit their schemas', otherwise: 'no answer has one', judge: headerValues },
  { number: 17, name: 'Content-Length is the length', otherwise: 'no answer has it', judge: contentLength },
  { number: 19, name: 'Cache-Control is no-store', otherwise: 'no answer declares it', judge: noStore },
  { number: 32, name: 'errors are in the table', otherwise: 'no answer was an error', judge: errorRow },
  { number: 33, name: 'request ids agree and are new', otherwise: noSuccess, judge: requestIds },
  { number: 38, name: 'the rate limit can be read', otherwise: 'the server sends no rate limit', judge: rateLimit },
]

export const answerChecks: readonly AnswerCheck[] = [...bodyChecks, ...streamChecks]

function declaredStatus(answered: Answered): Found {
  const { operation, received } = answered
  const declared = [...operation.responses.keys()]
  return faultsIf(
    responseOf(answered) === null,
    `${placeOf(answered)}: ${received.status} is not in ${declared.join()}`,
  )
}

function declaredType(answered: Answered): Found {
  const { received } = answered
  const response = responseOf(answered)
  if (response === null || isBodyless(answered)) return null
  if (received.body.length === 0) return emptyFaults(answered, response)
  if (mediaOf(answered) === null) return [`${placeOf(answered)}: ${typeOf(received) || 'no type'} is not declared`]
  const isBroken = typeOf(received) === 'application/json' && jsonOf(received) === undefined
  return faultsIf(isBroken, `${placeOf(answered)}: the body is not JSON`)
}

/** Returns true if the answer needs no complete body (HEAD, 204, 304), or if its connection was cut. */
const isBodyless = ({ sent, received }: Answered) =>
  sent.method === 'HEAD' || [204, 304].includes(received.status) || received.broken !== null

/** Audio may be empty, JSON may not. */
function emptyFaults(answered: Answered, { content }: Response): Found {
  if (content.length === 0) return null
  const type = typeOf(answered.received)
  const mayBeEmpty = type !== 'application/json' && content.some((media) => media.type === type)
  return faultsIf(!mayBeEmpty, `${placeOf(answered)}: the body is empty`)
}

function ourOpinion(answered: Answered): Found {
  const { surface, operation, received } = answered
  const body = jsonOf(received)
  const validate = surface.validators.answer(operation.id, String(received.status))
  if (body === undefined || validate === null) return null
  if (validate(body)) return []
  const [violation] = validate.errors ?? []
  return [`${placeOf(answered)}: ${violation?.instancePath || 'the body'} ${violation?.message ?? 'is not valid'}`]
}

function secondOpinion(answered: Answered): Found {
  const { surface, operation, received } = answered
  const body = jsonOf(received)
  if (body === undefined || surface.oracle === null || mediaOf(answered) === null) return null
  const fault = surface.oracle(operation, received.status, body)
  return faultsIf(fault !== null, `${placeOf(answered)}: ${fault}`)
}

function undeclaredFields(answered: Answered): Found {
  const body = jsonOf(answered.received)
  const media = mediaOf(answered)
  if (body === undefined || media === null) return null
  return undeclaredIn(media.schema, body, schemasOf(answered)).map(
    (pointer) => `${placeOf(answered)}: ${pointer} is not declared`,
  )
}

function dates(answered: Answered): Found {
  const body = jsonOf(answered.received)
  const media = mediaOf(answered)
  if (body === undefined || media === null) return null
  const found = datesIn(media.schema, body, schemasOf(answered))
  if (found.length === 0) return null
  return found
    .filter(({ value }) => typeof value !== 'string' || !rfc3339.test(value) || Number.isNaN(Date.parse(value)))
    .map(({ pointer, value }) => `${placeOf(answered)}: ${pointer} is ${JSON.stringify(value)}`)
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

const schemasOf = ({ surface }: Answered) => surface.document.components?.schemas ?? {}

function requiredHeaders(answered: Answered): Found {
  const required = [...(responseOf(answered)?.headers ?? [])].filter(([, header]) => header.required)
  if (required.length === 0) return null
  const { headers } = answered.received
  return required.flatMap(([name]) => faultsIf(headers[name] === undefined, `${placeOf(answered)}: ${name} is missing`))
}

function undeclaredHeaders(answered: Answered): Found {
  const response = responseOf(answered)
  if (response === null) return null
  const prefixes = ['x-', `${answered.surface.headerPrefix.toLowerCase()}-`]
  return Object.keys(answered.received.headers)
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)) && !response.headers.has(name))
    .map((name) => `${placeOf(answered)}: ${name} is not declared`)
}

function headerValues(answered: Answered): Found {
  const declared = [...(responseOf(answered)?.headers ?? [])]
  const present = declared.flatMap(([name, header]) => {
    const value = answered.received.headers[name]
    return value === undefined ? [] : [{ name, header, value }]
  })
  if (present.length === 0) return null
  return present.flatMap(({ name, header, value }) =>
    faultsIf(!fits(answered.surface, header, value), `${placeOf(answered)}: ${name} is ${JSON.stringify(value)}`),
  )
}

// ajv-formats is CommonJS, so under Node's ESM its default import is the module itself.
const addFormats = addFormatsModule.default
const documents = new WeakMap<Surface, Ajv2020>()
const compiled = new WeakMap<Header, ValidateFunction>()

/** Returns true if the header's text is valid by its schema. */
function fits(surface: Surface, header: Header, text: string): boolean {
  const validate = compiled.get(header) ?? compile(surface, header)
  compiled.set(header, validate)
  return validate({ value: text })
}

function compile(surface: Surface, { schema }: Header): ValidateFunction {
  let ajv = documents.get(surface)
  if (ajv === undefined) {
    // A header is text, so numbers are parsed from it.
    ajv = new Ajv2020({ strict: false, coerceTypes: true, validateSchema: false })
    addFormats(ajv)
    ajv.addSchema({ ...surface.document, $id: 'document' })
    documents.set(surface, ajv)
  }
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object
  return ajv.compile({ type: 'object', properties: { value: absolute } })
}

function contentLength({ sent, received }: Answered): Found {
  // Check 43 reports streams that are cut off.
  const isStream = typeOf(received) === 'text/event-stream'
  if (received.broken !== null) return isStream ? null : [`${placeOf({ sent, received })}: ${received.broken}`]
  const declared = received.headers['content-length']
  // HEAD has the length from GET, without the body.
  if (declared === undefined || sent.method === 'HEAD' || received.status === 204) return null
  const message = `${placeOf({ sent, received })}: ${declared} is declared, ${received.body.length} bytes came`
  return faultsIf(Number(declared) !== received.body.length, message)
}

function noStore(answered: Answered): Found {
  const declared = responseOf(answered)?.headers.get('cache-control')?.schema
  if (typeof declared !== 'object' || declared['const'] !== 'no-store') return null
  const value = answered.received.headers['cache-control']
  return faultsIf(value !== 'no-store', `${placeOf(answered)}: Cache-Control is ${value ?? 'missing'}`)
}

function errorRow(answered: Answered): Found {
  const { received } = answered
  if (received.status < 400) return null
  const envelope = envelopeOf(received)
  if (envelope === null) {
    const isEmpty = answered.sent.method === 'HEAD'
    return isEmpty ? null : [`${placeOf(answered)}: the body is not an error envelope`]
  }
  return envelopeFaults(answered, envelope).map((fault) => `${placeOf(answered)}: ${fault}`)
}

/** Two error responses of this operation have no error code: they describe an agent's configuration, not a fault. */
const mayLackCode = new Set(['sendAgentMessage'])

function envelopeFaults({ surface, operation, received: { status } }: Answered, envelope: Envelope): readonly string[] {
  const { code } = envelope
  if (code === null) return faultsIf(!mayLackCode.has(operation.id), 'the envelope has no code')
  const row = surface.errors[code]
  if (row === undefined) return [`the code ${code} is not in the table`]
  const { type, retryable } = envelope
  return [
    ...faultsIf(row.status !== status, `${code} has the status ${row.status} in the table`),
    ...faultsIf(type !== undefined && type !== row.type, `${code} has the type ${row.type} in the table, not ${type}`),
    ...faultsIf(
      retryable !== undefined && retryable !== row.retryable,
      `${code} has retryable ${row.retryable} in the table`,
    ),
  ]
}

function requestIds(answered: Answered): Found {
  const { received, requestIds: known, surface } = answered
  const id = received.headers[`${surface.headerPrefix.toLowerCase()}-request-id`]
  if (id === undefined) return null
  const envelope = received.status < 400 ? null : envelopeOf(received)
  const isRepeated = known.has(id)
  known.add(id)
  return [
    ...faultsIf(isRepeated, `${placeOf(answered)}: the request id is the id of an earlier request`),
    ...faultsIf(
      envelope?.requestId !== undefined && envelope.requestId !== id,
      `${placeOf(answered)}: the request id of the envelope is another`,
    ),
  ]
}

/** RateLimit and RateLimit-Policy are structured fields (RFC 9651); a 429 names the wait. */
function rateLimit(answered: Answered): Found {
  const { headers, status } = answered.received
  const waits = status === 429 ? faultsIf(!/^\d+$/.test(headers['retry-after'] ?? ''), '429 without Retry-After') : []
  const fields = ['ratelimit', 'ratelimit-policy'].filter((name) => headers[name] !== undefined)
  if (fields.length === 0) return status === 429 ? waits : null
  const broken = fields.filter((name) => !parses(headers[name] ?? '', name === 'ratelimit' ? ['r', 't'] : ['q', 'w']))
  return [...waits, ...broken.map((name) => `${placeOf(answered)}: ${name} is ${headers[name]}`)]
}

function parses(text: string, parameters: readonly string[]): boolean {
  try {
    const [member] = parseList(text)
    return parameters.every((name) => typeof member?.[1].get(name) === 'number')
  } catch {
    return false
  }
}
