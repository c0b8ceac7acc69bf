/** Lists a document's validators: each schema, and the validator's name in the route and channel tables. */
import {
  type Channel,
  type MediaType,
  type Message,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  pascal,
  type Response,
} from './ir.ts'
import { planParts, textSchema } from './parts.ts'
import type { Direction, Schema, SchemaObject } from './schema.ts'

/** One exported validator: its name and its schema. */
export type ValidatorPlan = { name: string; direction: Direction; schema: Schema; pointer: string }

export function paramsValidator(operation: Operation): string | null {
  return operation.parameters.length > 0 ? `${operation.id}Params` : null
}

export function bodyValidator(operation: Operation, schemas: Record<string, Schema>): string | null {
  return jsonBodySchema(operation, schemas) === null ? null : `${operation.id}Body`
}

export function responseValidator(operation: Operation, { status, content }: Response): string | null {
  return jsonSchema(content) === null ? null : `${operation.id}${pascal(status)}`
}

/**
 * Returns the JSON body's schema. For a multipart body, it is the schema for its JSON part, or for its text parts by
 * name.
 */
export function jsonBodySchema(operation: Operation, schemas: Record<string, Schema>): Schema | null {
  const content = operation.body?.content ?? []
  const multipart = content.find((media) => media.type === 'multipart/form-data')
  if (!multipart) return jsonSchema(content)
  const parts = planParts(multipart, schemas)
  return textSchema(parts) ?? parts.find(({ kind }) => kind === 'json')?.schema ?? null
}

export function planValidators(document: OpenApiDocument): ValidatorPlan[] {
  return [
    ...document.operations.flatMap((operation) => planOperation(operation, document.schemas)),
    ...document.webhooks.flatMap(planWebhook),
  ]
}

/**
 * Lists a webhook's validators. This server sends the payload, so the payload is checked with the rules for responses.
 * The webhook's response comes from outside, so it is checked with the rules for requests.
 */
function planWebhook({ id, body, responses, pointer }: Operation): ValidatorPlan[] {
  const [answer = null] = responses.map(({ content }) => jsonSchema(content)).filter((schema) => schema !== null)
  return [
    ...plan(`${id}Payload`, 'response', jsonSchema(body?.content ?? []), pointer),
    ...plan(`${id}Answer`, 'request', answer, `${pointer}/responses`),
  ]
}

function planOperation(operation: Operation, schemas: Record<string, Schema>): ValidatorPlan[] {
  const { parameters, responses, pointer } = operation
  return [
    ...plan(paramsValidator(operation), 'request', paramsSchema(parameters), `${pointer}/parameters`),
    ...plan(bodyValidator(operation, schemas), 'request', jsonBodySchema(operation, schemas), `${pointer}/requestBody`),
    ...responses.flatMap((response) => [
      ...plan(responseValidator(operation, response), 'response', jsonSchema(response.content), response.pointer),
      ...response.content
        .flatMap((media) => eventComponents(media))
        .flatMap(([, component]) =>
          plan(eventValidator(component), 'response', componentRef(component), response.pointer),
        ),
    ]),
  ]
}

function plan(name: string | null, direction: Direction, schema: Schema | null, pointer: string): ValidatorPlan[] {
  return name === null || schema === null ? [] : [{ name, direction, schema, pointer }]
}

function jsonSchema(content: MediaType[]): Schema | null {
  return content.find((media) => media.type === 'application/json')?.schema ?? null
}

/**
 * Returns the schema for {path, query, header}. It need not refuse unknown parameters, because the engine reads only
 * declared ones.
 */
function paramsSchema(parameters: Parameter[]): SchemaObject {
  const place = (where: Parameter['in']): SchemaObject => {
    const own = parameters.filter((parameter) => parameter.in === where)
    const nameOf = ({ name }: Parameter) => (where === 'header' ? name.toLowerCase() : name)
    return {
      type: 'object',
      properties: Object.fromEntries(own.map((parameter) => [nameOf(parameter), parameter.schema])),
      required: own.filter((parameter) => parameter.required).map(nameOf),
    }
  }
  return {
    type: 'object',
    properties: { path: place('path'), query: place('query'), header: place('header') },
    required: ['path', 'query', 'header'],
  }
}

/** Lists a stream's events with their components. If the frames have no names, the stream has one event, named ''. */
export function eventComponents({ events, eventData }: MediaType): [string, string][] {
  return eventData === null ? Object.entries(events) : [['', eventData]]
}

export function eventValidator(component: string): string {
  return `event${component}`
}

export function planFrames(channels: readonly Channel[]): ValidatorPlan[] {
  return textFrames(channels).map(({ component, direction, pointer }) => ({
    name: frameValidator(component, direction),
    direction,
    schema: componentRef(component),
    pointer,
  }))
}

export type Frame = Message & { component: string; direction: Direction }

/** Lists every text frame once per direction. A frame to the server is a request, a frame from it is a response. */
export function textFrames(channels: readonly Channel[]): Frame[] {
  const frames = channels.flatMap(({ receives, sends }) => [
    ...receives.map((message) => ({ ...message, direction: 'request' as const })),
    ...sends.map((message) => ({ ...message, direction: 'response' as const })),
  ])
  const byName = new Map<string, Frame>()
  for (const frame of frames) {
    const { component } = frame
    if (component !== null && !frame.isBinary) byName.set(`${frame.direction}:${component}`, { ...frame, component })
  }
  return [...byName.values()]
}

export function frameValidator(component: string, direction: Direction): string {
  return (direction === 'request' ? 'receive' : 'send') + component
}

function componentRef(component: string): Schema {
  return { $ref: `#/components/schemas/${component}` }
}
