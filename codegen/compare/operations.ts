/** Compares the operations and webhooks of an OpenAPI document in two releases. */
import type { Body, ErrorRow, Header, MediaType, OpenApiDocument, Operation, Parameter, Response } from '../ir.ts'
import { type Break, type Direction, ValueComparison } from './values.ts'

type Pair<Value> = { before: Value; after: Value }

export function compareOperations({ before, after }: Pair<OpenApiDocument>): Break[] {
  const comparison = new OperationComparison(before.name, { before: before.schemas, after: after.schemas })
  comparison.basePath(before, after)
  comparison.operations(before.operations, after.operations)
  comparison.webhooks(before.webhooks, after.webhooks)
  comparison.errors(before.errors ?? {}, after.errors ?? {})
  return comparison.breaks
}

type SentHeader = Pick<Header, 'name' | 'required' | 'schema'>

function basePathOf({ source }: OpenApiDocument): string {
  const { servers } = source as { servers?: { url?: string }[] }
  return servers?.[0]?.url ?? '/'
}

class OperationComparison {
  readonly #surface: string
  readonly #values: ValueComparison
  readonly breaks: Break[]

  constructor(surface: string, schemas: ConstructorParameters<typeof ValueComparison>[1]) {
    this.#surface = surface
    this.#values = new ValueComparison(surface, schemas)
    this.breaks = this.#values.breaks
  }

  /**
   * Compares the base paths, because clients put the base path before each path. A document without `servers` has the
   * base path /.
   */
  basePath(before: OpenApiDocument, after: OpenApiDocument): void {
    const [path, next] = [basePathOf(before), basePathOf(after)]
    if (next === path) return
    this.breaks.push({ place: this.#surface, rule: 'base-path', detail: `the base path ${path} is ${next}` })
  }

  operations(before: Operation[], after: Operation[]): void {
    for (const operation of before) {
      const place = `${operation.method.toUpperCase()} ${operation.path}`
      const next = after.find(({ method, path }) => method === operation.method && path === operation.path)
      if (next) this.#operation(place, { before: operation, after: next })
      else this.#add(place, 'operation-removed', 'the operation is gone')
    }
  }

  /**
   * Compares the webhooks. The server sends a webhook's body, so the body is compared like a response. The receiver's
   * response is compared like a request.
   */
  webhooks(before: Operation[], after: Operation[]): void {
    for (const webhook of before) {
      const place = `webhook ${webhook.path}`
      const next = after.find(({ path, method }) => path === webhook.path && method === webhook.method)
      if (!next) {
        this.#add(place, 'webhook-removed', `no ${webhook.method.toUpperCase()} is sent`)
        continue
      }
      if (next.id !== webhook.id) this.#add(place, 'operation-renamed', `${webhook.id} is ${next.id}`)
      this.#content('answer', place, webhook.body?.content ?? [], next.body?.content ?? [])
      this.#responses('request', place, webhook.responses, next.responses)
      this.#headers('answer', place, webhook.parameters, next.parameters)
    }
  }

  errors(before: Record<string, ErrorRow>, after: Record<string, ErrorRow>): void {
    for (const [code, row] of Object.entries(before)) {
      const next = after[code]
      if (!next) this.#add(`error ${code}`, 'error-removed', 'the code is gone')
      else if (next.status !== row.status) this.#add(`error ${code}`, 'error-status', `${row.status} is ${next.status}`)
    }
  }

  #operation(place: string, { before, after }: Pair<Operation>): void {
    const { id, streamSwitch, streamValue, scope } = before
    if (after.id !== id) this.#add(place, 'operation-renamed', `${id} is ${after.id}`)
    if (after.secured && !before.secured) this.#add(place, 'key-required', 'needs a key')
    else if (after.secured && after.scope !== scope) this.#add(place, 'scope-changed', `${scope} is ${after.scope}`)
    const isSame = after.streamSwitch === streamSwitch && after.streamValue === streamValue
    if (streamSwitch !== null && !isSame) this.#add(place, 'stream-switch', 'the events are selected otherwise')
    this.#parameters(place, before.parameters, after.parameters)
    this.#body(place, before.body, after.body)
    this.#responses('answer', place, before.responses, after.responses)
  }

  #parameters(place: string, before: Parameter[], after: Parameter[]): void {
    const at = (parameter: Parameter) => `${place} ${parameter.in} ${parameter.name}`
    const same = (list: Parameter[], one: Parameter) =>
      list.find((other) => other.in === one.in && other.name === one.name)
    for (const parameter of before.filter((one) => one.in !== 'path')) {
      const next = same(after, parameter)
      if (!next) this.#add(at(parameter), 'request-field-removed', 'the parameter')
      else this.#parameter(at(parameter), parameter, next)
    }
    for (const parameter of after.filter(({ required }) => required))
      if (parameter.in !== 'path' && !same(before, parameter)?.required)
        this.#add(at(parameter), 'request-field-required', 'newly required')
  }

  #parameter(place: string, before: Parameter, after: Parameter): void {
    const max = after.bytesMax ?? Number.POSITIVE_INFINITY
    if (max < (before.bytesMax ?? Number.POSITIVE_INFINITY)) this.#add(place, 'request-bound', `x-max-bytes ${max}`)
    this.#values.compare('request', `${this.#surface} ${place}`, { before: before.schema, after: after.schema })
  }

  #body(place: string, before: Body | null, after: Body | null): void {
    if (after?.required && !before?.required) this.#add(`${place} body`, 'request-field-required', 'newly required')
    if (!before) return
    if (!after) return this.#add(`${place} body`, 'media-type-removed', 'the body')
    if (before.takesAnyType && !after.takesAnyType)
      this.#add(`${place} body`, 'media-type-removed', 'other media types are refused')
    this.#content('request', `${place} body`, before.content, after.content)
  }

  #responses(direction: Direction, place: string, before: Response[], after: Response[]): void {
    for (const response of before) {
      const next = after.find(({ status }) => status === response.status)
      const at = `${place} ${response.status}`
      if (!next) {
        this.#add(at, 'status-removed', 'the status is gone')
        continue
      }
      this.#content(direction, at, response.content, next.content)
      this.#headers(direction, at, response.headers, next.headers)
    }
  }

  /** Header names are compared without their case, as HTTP does. */
  #headers(direction: Direction, place: string, before: readonly SentHeader[], after: readonly SentHeader[]): void {
    for (const { name, required, schema } of before) {
      const next = after.find((header) => header.name.toLowerCase() === name.toLowerCase())
      const at = `${place} header ${name}`
      if (required && next?.required !== true) this.#add(at, 'header-removed', 'not always sent')
      if (next === undefined) continue
      this.#values.compare(direction, `${this.#surface} ${at}`, { before: schema, after: next.schema })
    }
  }

  #content(direction: Direction, place: string, before: MediaType[], after: MediaType[]): void {
    for (const media of before) {
      const next = after.find(({ type }) => type === media.type)
      if (next) this.#media(direction, `${place} ${media.type}`, media, next)
      else this.#add(`${place} ${media.type}`, 'media-type-removed', 'the media type is gone')
    }
  }

  #media(direction: Direction, place: string, before: MediaType, after: MediaType): void {
    if (after.partOrder && after.partOrder.join() !== before.partOrder?.join())
      this.#add(place, 'part-order', `the order is ${after.partOrder.join(', ')}`)
    this.#events(place, before, after)
    if (before.type === 'text/event-stream') return
    this.#values.compare(direction, `${this.#surface} ${place}`, {
      before: before.schema ?? true,
      after: after.schema ?? true,
    })
  }

  #events(place: string, before: MediaType, after: MediaType): void {
    const named = ({ events, eventData }: MediaType) => (eventData === null ? events : { '': eventData })
    const later = named(after)
    for (const [event, component] of Object.entries(named(before))) {
      const next = later[event]
      if (next === undefined) this.#add(`${place} ${event}`, 'event-removed', 'the event is gone')
      else
        this.#values.compare('answer', `${this.#surface} ${place} ${event}`, {
          before: refTo(component),
          after: refTo(next),
        })
    }
  }

  #add(place: string, rule: string, detail: string): void {
    this.breaks.push({ place: `${this.#surface} ${place}`, rule, detail })
  }
}

function refTo(component: string) {
  return { $ref: `#/components/schemas/${component}` }
}
