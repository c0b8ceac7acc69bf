/**
 * Converts operations to the client model: parameters, bodies, and a method for each kind of response (JSON, audio,
 * text, event stream).
 */
import { idempotencyKey, isIdempotent, type MediaType, type Operation, pascal } from '../ir.ts'
import { planParts } from '../parts.ts'
import type { Schema } from '../schema.ts'
import type { Declarations } from './declarations.ts'
import type { ClientAnswer, ClientBody, ClientMethod, ClientOperation, ClientParameter, FormPart } from './model.ts'

type Schemas = Record<string, Schema>

export function lowerOperation(operation: Operation, schemas: Schemas, types: Declarations): ClientOperation {
  const { id, method, path, summary, deprecated, secured, streamSwitch, streamValue } = operation
  return {
    ...{ id, path, summary, streamSwitch, streamValue },
    method: method.toUpperCase(),
    isDeprecated: deprecated,
    needsKey: secured,
    isIdempotent: isIdempotent(operation),
    parameters: lowerParameters(operation, types),
    body: lowerBody(operation, schemas, types),
    methods: methodsOf(operation, types),
  }
}

export function lowerParameters({ id, parameters }: Operation, types: Declarations): ClientParameter[] {
  return parameters
    .filter(({ name }) => name !== idempotencyKey)
    .map((parameter) => ({
      in: parameter.in,
      name: parameter.name,
      use: types.use(parameter.type, {
        name: pascal(id) + pascal(parameter.name),
        view: 'sent',
        description: parameter.description,
      }),
      isRequired: parameter.required,
      fallback: parameter.fallback,
      isDeprecated: false,
      description: parameter.description,
      isJson: parameter.content?.type === 'application/json',
    }))
}

function lowerBody({ id, body }: Operation, schemas: Schemas, types: Declarations): ClientBody | null {
  if (!body) return null
  const isRequired = body.required
  const multipart = body.content.find(({ type }) => type === 'multipart/form-data')
  if (multipart) return { kind: 'multipart', isRequired, parts: lowerParts(id, multipart, schemas, types) }
  const json = body.content.find(({ type }) => type === 'application/json')
  if (!json?.value) return { kind: 'bytes', isRequired, mediaTypes: body.content.map(({ type }) => type) }
  const place = { name: `${pascal(id)}Body`, view: 'sent', description: '' } as const
  return { kind: 'json', isRequired, use: types.use(json.value, place) }
}

function lowerParts(id: string, media: MediaType, schemas: Schemas, types: Declarations): FormPart[] {
  return planParts(media, schemas).map(({ name, kind, isList, required, type, fallback, schema }) => {
    const description = descriptionOf(schema)
    const place = { name: pascal(id) + pascal(name), view: 'sent', description } as const
    return {
      ...{ name, kind, isList, fallback, description },
      use: kind === 'bytes' ? { kind: 'bytes' } : types.use(type, place),
      isRequired: required,
      isDeprecated: false,
    }
  })
}

function descriptionOf(schema: Schema): string {
  const text = typeof schema === 'object' ? schema['description'] : undefined
  return typeof text === 'string' ? text : ''
}

/** Returns the methods in this order: JSON or audio, text, event stream. */
function methodsOf(operation: Operation, types: Declarations): ClientMethod[] {
  const answers = operation.responses.filter(({ status }) => status.startsWith('2'))
  const content = answers.flatMap((answer) => answer.content)
  if (content.length === 0) return [{ name: operation.id, answer: { kind: 'none' }, mediaTypes: [], setsStream: null }]
  const kinds = (['json', 'bytes', 'text', 'stream'] as const).filter((kind) => content.some(isOf(kind)))
  return kinds.map((kind, place) => {
    const media = content.filter(isOf(kind))
    const suffix = place === 0 ? '' : { json: 'Json', bytes: 'Bytes', text: 'Text', stream: 'Stream' }[kind]
    return {
      name: operation.id + suffix,
      answer: answerOf(kind, media, operation, types),
      mediaTypes: [...new Set(media.map(({ type }) => type))],
      setsStream: setsStream(operation, kind === 'stream'),
    }
  })
}

/**
 * Returns the method's value for the field that selects an event stream, or null if the method does not set this field.
 * If the field is not a boolean, only the event stream's method sets it.
 */
function setsStream({ streamSwitch, streamValue }: Operation, isStream: boolean): boolean | null {
  return streamSwitch === null || (!isStream && streamValue !== true) ? null : isStream
}

type Kind = 'json' | 'bytes' | 'text' | 'stream'

function kindOf({ type }: MediaType): Kind {
  if (type === 'application/json') return 'json'
  if (type === 'text/event-stream') return 'stream'
  return type.startsWith('text/') ? 'text' : 'bytes'
}

const isOf = (kind: Kind) => (media: MediaType) => kindOf(media) === kind

function answerOf(kind: Kind, [media]: MediaType[], { id }: Operation, types: Declarations): ClientAnswer {
  if (kind === 'stream' && media) return streamOf(media, types)
  if (kind !== 'json') return { kind: kind === 'text' ? 'text' : 'bytes' }
  const place = { name: `${pascal(id)}Answer`, view: 'answered', description: '' } as const
  return { kind, use: media?.value ? types.use(media.value, place) : { kind: 'any' } }
}

function streamOf({ events, eventData, eventIdentity, terminalEvents }: MediaType, types: Declarations): ClientAnswer {
  if (eventData !== null) return { kind: 'data', use: types.component(eventData, 'answered'), terminalEvents }
  return {
    kind: 'events',
    events: Object.entries(events).map(([event, name]) => ({ event, use: types.component(name, 'answered') })),
    terminalEvents,
    identity: eventIdentity,
  }
}
