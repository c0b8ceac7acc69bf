/**
 * Validates a server's output against its contract: responses, events, webhook payloads, frames. Tests, development and
 * `parley conform` use this. A validator is compiled at its first value, because compiling all validators would take a
 * second.
 */
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { createAjv, registerSchema } from './ajv.ts'
import { type Ref, resolve } from './reference.ts'
import { escapePointer, type Schema } from './schema.ts'

type Violation = { instancePath: string; keyword: string; message?: string; params: Record<string, unknown> }
export type Validator = { (value: unknown): boolean; errors?: Violation[] | null }

type Media = { schema?: Schema; 'x-sse-data'?: string; 'x-sse-events'?: Record<string, string> }
type Content = Record<string, Media>
type Response = { content?: Content } & Ref
type Operation = { operationId?: string; requestBody?: { content: Content }; responses?: Record<string, Response> }
type PathItem = Record<string, Operation>
type Message = { name?: string; contentType?: string; payload?: Ref } & Ref
type Action = { action: 'send' | 'receive'; channel: { $ref: string }; messages?: Message[] }
type Contract = {
  paths?: Record<string, PathItem>
  webhooks?: Record<string, PathItem>
  defaultContentType?: string
  channels?: Record<string, object>
  operations?: Record<string, Action>
  components?: { schemas?: Record<string, Schema> }
}

export class ContractValidators {
  readonly #contract: Contract
  readonly #schemas: Record<string, Schema>
  readonly #operations: ReadonlyMap<string, Operation>
  #ajv: Ajv2020 | null = null

  /** `contract` is an OpenAPI or AsyncAPI document as JSON, without references to other files. */
  constructor(contract: string) {
    this.#contract = JSON.parse(contract) as Contract
    this.#schemas = this.#contract.components?.schemas ?? {}
    this.#operations = byId(this.#contract.paths)
  }

  /** Returns null if the contract describes no JSON for the response. */
  answer(operationId: string, status: string): Validator | null {
    const schema = this.#answerContent(operationId, status)['application/json']?.schema
    return schema === undefined ? null : this.#lazily(`${operationId} ${status}`, schema)
  }

  /**
   * Returns validators by event name, or null if the response is not a stream. If a stream's events have no names, it
   * has one event, named ''.
   */
  events(operationId: string, status: string): Record<string, Validator> | null {
    const stream = this.#answerContent(operationId, status)['text/event-stream']
    if (!stream) return null
    const { 'x-sse-data': data, 'x-sse-events': events = {} } = stream
    return this.#components(data === undefined ? events : { '': data })
  }

  /**
   * Returns the validator for a webhook's payload, which the server sends. Null if the contract has no webhook with
   * this name.
   */
  payload(webhook: string): Validator | null {
    const schema = this.#contract.webhooks?.[webhook]?.['post']?.requestBody?.content['application/json']?.schema
    return schema === undefined ? null : this.#lazily(webhook, schema)
  }

  /** Returns validators for the server's text frames, by type. Null if the contract has no such channel. */
  frames(channelId: string): Record<string, Validator> | null {
    const { channels = {}, operations = {}, defaultContentType } = this.#contract
    if (!Object.hasOwn(channels, channelId)) return null
    const pointer = `#/channels/${escapePointer(channelId)}`
    const messages = Object.values(operations)
      .filter(({ action, channel }) => action === 'send' && channel.$ref === pointer)
      .flatMap((operation) => operation.messages ?? [])
      .map((message) => resolve(this.#contract, message))
    const components = messages.flatMap(({ name = '', payload, contentType = defaultContentType }) =>
      payload?.$ref === undefined || contentType === 'application/octet-stream' ? [] : [[name, nameIn(payload.$ref)]],
    )
    return this.#components(Object.fromEntries(components) as Record<string, string>)
  }

  #answerContent(operationId: string, status: string): Content {
    const response = this.#operations.get(operationId)?.responses?.[status]
    return (response && resolve(this.#contract, response).content) ?? {}
  }

  #components(names: Record<string, string>): Record<string, Validator> {
    const entries = Object.entries(names).map(([key, name]) => {
      const schema = { $ref: `#/components/schemas/${escapePointer(name)}` }
      return [key, this.#lazily(name, schema)] as const
    })
    return Object.fromEntries(entries)
  }

  #lazily(name: string, schema: Schema): Validator {
    let compiled: Validator | null = null
    const validate: Validator = (value) => {
      compiled ??= this.#compile(name, schema)
      const isValid = compiled(value)
      validate.errors = compiled.errors ?? null
      return isValid
    }
    return validate
  }

  #compile(name: string, schema: Schema): Validator {
    // The generator has checked the schemas. Checking them again would take most of the time here.
    this.#ajv ??= createAjv(this.#schemas, { directions: ['response'], validateSchema: false, optimize: false })
    const validate = this.#ajv.getSchema(registerSchema(this.#ajv, name, schema, 'response', this.#schemas))
    if (!validate) throw new Error(`${name} has no schema`)
    return validate as Validator
  }
}

function byId(items: Record<string, PathItem> = {}): Map<string, Operation> {
  const operations = Object.values(items).flatMap((item) => Object.values(item))
  return new Map(operations.flatMap((operation) => (operation.operationId ? [[operation.operationId, operation]] : [])))
}

const nameIn = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1)
