/**
 * The rules for operations. Client generators and test tools need them, so that each operation can be used as written.
 */
import type { Finding, OpenApiDocument, Operation } from './ir.ts'
import { planParts } from './parts.ts'
import { resolveSchema, type Schema } from './schema.ts'

type Rule = (document: OpenApiDocument) => Finding[]

export const operationRules: Record<string, Rule> = {
  'stream-switch': streamSwitches,
  'sse-identity': eventIdentities,
  'media-range': mediaRanges,
  'header-length': headerLengths,
  'model-status': modelStatuses,
  'webhook-signature': webhookSignatures,
}

/**
 * Finds operations with a choice between an event stream and another response, but without a way for clients to choose.
 * Also finds a superfluous or invalid `x-stream-switch`.
 */
function streamSwitches({ operations, schemas }: OpenApiDocument): Finding[] {
  return operations.flatMap((operation): Finding[] => {
    const { streamSwitch, streamsByAccept, streamValue, pointer } = operation
    const types = operation.responses
      .filter(({ status }) => status.startsWith('2'))
      .flatMap(({ content }) => content.map(({ type }) => type))
    const hasChoice = types.includes('text/event-stream') && types.length > 1
    if (!hasChoice && (streamSwitch !== null || streamsByAccept))
      return [{ pointer, message: 'has x-stream-switch, but its answer is always of one kind; remove it' }]
    if (!hasChoice || streamsByAccept) return []
    if (streamSwitch === null)
      return [{ pointer, message: 'answers events or something else; name the field or Accept in x-stream-switch' }]
    const field = bodyFields(operation, schemas)[streamSwitch]
    if (field !== undefined && takes(resolveSchema(schemas, field), streamValue)) return []
    const message = `x-stream-switch ${streamSwitch} is no field or part of the body that takes ${streamValue}`
    return [{ pointer, message: `${message}; correct it or x-stream-value` }]
  })
}

/**
 * Finds resumable streams without a field to tell two events apart, because a client drops the events repeated after it
 * has resumed a stream. Also finds such a field on other streams.
 */
function eventIdentities({ operations, schemas }: OpenApiDocument): Finding[] {
  return operations.flatMap(({ parameters, responses, pointer }) => {
    const isResumed = parameters.some(({ in: place, name }) => place === 'header' && name === 'Last-Event-ID')
    const streams = responses.flatMap(({ content }) => content.filter(({ type }) => type === 'text/event-stream'))
    if (isResumed !== streams.some(({ eventIdentity }) => eventIdentity !== null))
      return [{ pointer, message: 'the header Last-Event-ID and x-sse-identity go together; give both or neither' }]
    return streams.flatMap((stream) =>
      Object.entries(stream.eventIdentity ?? {}).flatMap(([event, field]): Finding[] => {
        const component = resolveSchema(schemas, schemas[stream.events[event] ?? ''] ?? true)
        if (typeof component === 'object' && component.properties?.[field] !== undefined) return []
        return [
          { pointer: stream.pointer, message: `x-sse-identity: there is no event ${event} with a field ${field}` },
        ]
      }),
    )
  })
}

function bodyFields({ body }: Operation, schemas: Record<string, Schema>): Record<string, Schema> {
  const fields = (body?.content ?? []).flatMap((media) => {
    if (media.type === 'multipart/form-data') return planParts(media, schemas).map(({ name, schema }) => [name, schema])
    const target = resolveSchema(schemas, media.schema ?? true)
    return Object.entries((typeof target === 'object' && target.properties) || {})
  })
  return Object.fromEntries(fields) as Record<string, Schema>
}

function takes(schema: Schema, value: string | true): boolean {
  if (typeof schema === 'boolean') return false
  if (value === true) return [schema.type].flat().includes('boolean')
  return schema.enum?.includes(value) === true
}

/** Finds bodies with any media type, because some generators leave such an operation out. */
function mediaRanges({ operations }: OpenApiDocument): Finding[] {
  return operations.flatMap(({ body, responses }) =>
    [...(body?.content ?? []), ...responses.flatMap(({ content }) => content)]
      .filter(({ type }) => type === '*/*')
      .map(({ pointer }) => ({
        pointer,
        message: 'is any media type; list the usual types, and set x-any-media-type on the body to take the others',
      })),
  )
}

/**
 * The limit for one header in characters. HTTP engines limit a request's whole head, some to 16,384 bytes, and refuse a
 * longer head before our code runs.
 */
const headerLengthMax = 4096

function headerLengths({ operations, schemas }: OpenApiDocument): Finding[] {
  return operations.flatMap(({ parameters }) =>
    parameters
      .filter((parameter) => parameter.in === 'header' && lengthMax(parameter, schemas) > headerLengthMax)
      .map(({ name, pointer }) => ({
        pointer,
        message: `header ${name} may have more than ${headerLengthMax} characters; set maxLength or x-max-bytes`,
      })),
  )
}

function lengthMax({ schema, bytesMax }: Operation['parameters'][number], schemas: Record<string, Schema>): number {
  const target = resolveSchema(schemas, schema)
  if (bytesMax !== null || typeof target === 'boolean') return bytesMax ?? Number.POSITIVE_INFINITY
  if (target.enum || target['const'] !== undefined) return 0
  return typeof target['maxLength'] === 'number' ? target['maxLength'] : Number.POSITIVE_INFINITY
}

/** Finds operations with a field `model` but without a 404 response, for a model not served here. */
function modelStatuses({ operations, schemas }: OpenApiDocument): Finding[] {
  return operations
    .filter((operation) => operation.method === 'post' && 'model' in bodyFields(operation, schemas))
    .filter(({ responses }) => !responses.some(({ status }) => status === '404' || status === 'default'))
    .map(({ pointer }) => ({ pointer, message: 'takes a model but declares no 404; add it for a model not served' }))
}

const signatureHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature']

/** Finds webhooks without the signature's headers in the contract, because a receiver verifies each delivery. */
function webhookSignatures({ webhooks }: OpenApiDocument): Finding[] {
  return webhooks.flatMap(({ parameters, pointer }) => {
    const required = parameters.filter((parameter) => parameter.in === 'header' && parameter.required)
    const missing = signatureHeaders.filter((name) => !required.some((header) => header.name === name))
    if (missing.length === 0) return []
    return [{ pointer, message: `does not require the headers ${missing.join(', ')}; refer to the shared parameters` }]
  })
}
