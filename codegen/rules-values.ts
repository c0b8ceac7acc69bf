/** The rules that need compiled schemas: Ajv accepts every schema, and every example fits its schema. */
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { createAjv, registerSchema } from './ajv.ts'
import { type ExampleEvent, readEventStream } from './event-stream.ts'
import type { Example, Finding, MediaType, OpenApiDocument } from './ir.ts'
import { planParts } from './parts.ts'
import { type Direction, escapePointer, isBinary, type Schema } from './schema.ts'
import { planValidators } from './validator-plan.ts'

export function checkSchemas(document: OpenApiDocument): Finding[] {
  const { schemas } = document
  let ajv: Ajv2020
  try {
    ajv = createAjv(schemas)
  } catch (error) {
    return [{ pointer: '#/components/schemas', message: reason(error) }]
  }
  const components = Object.keys(schemas).flatMap((name) => {
    const pointer = `#/components/schemas/${escapePointer(name)}`
    return compile(ajv, `request:${name}`, pointer)
      .concat(compile(ajv, `response:${name}`, pointer))
      .slice(0, 1)
  })
  if (components.length > 0) return components
  return planValidators(document).flatMap(({ name, schema, direction, pointer }) => {
    try {
      return compile(ajv, registerSchema(ajv, name, schema, direction, schemas), pointer)
    } catch (error) {
      return [{ pointer, message: reason(error) }]
    }
  })
}

function compile(ajv: Ajv2020, id: string, pointer: string): Finding[] {
  try {
    ajv.getSchema(id)
    return []
  } catch (error) {
    return [{ pointer, message: reason(error) }]
  }
}

function reason(error: unknown): string {
  return `cannot be made into a validator: ${(error as Error).message}`
}

export function checkExamples(document: OpenApiDocument): Finding[] {
  const checker = new ExampleChecker(document.schemas)
  const operations = [...document.operations, ...document.webhooks]
  return operations.flatMap((operation) => {
    // This server sends a webhook's body and receives its response. So the body is checked with the rules for
    // responses, and the response with the rules for requests.
    const isWebhook = document.webhooks.includes(operation)
    const [bodyDirection, answerDirection] = isWebhook
      ? (['response', 'request'] as const)
      : (['request', 'response'] as const)
    const bodies = (operation.body?.content ?? []).flatMap((media) => checker.media(media, bodyDirection))
    const headers = operation.parameters.flatMap(({ content }) => (content ? checker.media(content, 'request') : []))
    const answers = operation.responses.flatMap(({ content }) =>
      content.flatMap((media) => checker.media(media, answerDirection)),
    )
    return [...bodies, ...headers, ...answers]
  })
}

class ExampleChecker {
  readonly #ajv: Ajv2020
  readonly #schemas: Record<string, Schema>
  /** The example values checked so far. A response shared by many operations is checked only once. */
  readonly #seen = new Set<unknown>()
  #examples = 0

  constructor(schemas: Record<string, Schema>) {
    this.#ajv = createAjv(schemas)
    this.#schemas = schemas
  }

  media(media: MediaType, direction: Direction): Finding[] {
    const { type, schema, examples, pointer } = media
    const isBytes = type !== 'multipart/form-data' && type !== 'text/event-stream' && isBinary(schema, this.#schemas)
    if (isBytes) return []
    if (examples.length === 0)
      return [{ pointer, message: 'has no example; add one, it is what readers look at first' }]
    return examples.flatMap((example) => {
      if (this.#seen.has(example.value)) return []
      if (typeof example.value === 'object') this.#seen.add(example.value)
      return this.#example(media, example, direction)
    })
  }

  #example(media: MediaType, example: Example, direction: Direction): Finding[] {
    if (media.type === 'multipart/form-data') return this.#multipart(media, example)
    if (media.type === 'text/event-stream') return this.#stream(media, example)
    return media.type === 'application/json'
      ? this.#value(media.schema ?? true, example.value, direction, example.pointer)
      : []
  }

  #multipart(media: MediaType, example: Example): Finding[] {
    const value = (example.value ?? {}) as Record<string, unknown>
    return planParts(media, this.#schemas).flatMap(({ name, kind, schema }) =>
      kind === 'bytes' || !(name in value)
        ? []
        : this.#value(schema, value[name], 'request', `${example.pointer}/${escapePointer(name)}`),
    )
  }

  #stream(media: MediaType, { value, pointer }: Example): Finding[] {
    const frames = readEventStream(value)
    if (frames.length === 0)
      return [{ pointer, message: 'has no events; write them as "event: name" and "data: {…}" lines' }]
    return frames.flatMap((frame) => this.#frame(media, frame, pointer))
  }

  #frame({ events, eventData }: MediaType, { event, data }: ExampleEvent, pointer: string): Finding[] {
    if (eventData !== null && event === null && data === '[DONE]') return []
    const named = event === null ? undefined : events[event]
    const component = eventData === null ? named : unnamedComponent(eventData, data)
    if (component === undefined || (eventData !== null && event !== null))
      return [{ pointer, message: `has event ${event ?? 'without a name'}, which x-sse-events does not list` }]
    try {
      return this.#value({ $ref: `#/components/schemas/${component}` }, JSON.parse(data), 'response', pointer)
    } catch {
      return [{ pointer, message: `the data of event ${event ?? 'without a name'} is not JSON on one line` }]
    }
  }

  #value(schema: Schema, value: unknown, direction: Direction, pointer: string): Finding[] {
    this.#examples += 1
    const id = registerSchema(this.#ajv, `example${this.#examples}`, schema, direction, this.#schemas)
    const validate = this.#ajv.getSchema(id)
    // Validation fills in defaults in place, so it works on a copy of the document's example.
    if (!validate || validate(structuredClone(value)) === true) return []
    const [error] = validate.errors ?? []
    const detail = Object.values(error?.params ?? {}).join(', ')
    return [
      { pointer, message: `is not what its schema says: ${error?.instancePath || '/'} ${error?.message} (${detail})` },
    ]
  }
}

/**
 * Names the component for a frame's data. If a stream fails, the HTTP engine ends it with an ErrorEnvelope (the error
 * body), even if all other frames have another type.
 */
function unnamedComponent(eventData: string, data: string): string {
  return data.startsWith('{"error":') ? 'ErrorEnvelope' : eventData
}
