/**
 * Reads a contract's examples from specs/ without the generator's code. Each has a name, by which a person finds it in
 * the document: `createSpeech: auto` for a request, `createSpeech 200: pcm` for an answer, `BadRequest:
 * invalid_parameter` for a shared response, `Transcript: final` for a message.
 */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parse } from 'yaml'

type Named = Record<string, { value: unknown }>
type Content = Record<string, { examples?: Named; schema?: { $ref?: string } }>
type Header = { required?: boolean; example: unknown }
type Parameter = {
  name: string
  in: string
  example?: unknown
  content?: Content & Record<string, { example: unknown }>
}
type Response = { headers?: Record<string, Header>; content?: Content }
type RawOperation = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, Response & { $ref?: string }>
}
/** A path item has an operation for each of these methods, and parameters that they share. */
const methods = ['get', 'put', 'post', 'patch', 'delete'] as const
type PathItem = { $ref?: string; parameters?: Parameter[] } & { [Method in (typeof methods)[number]]?: RawOperation }
type Message = { examples?: { name?: string; payload: unknown }[] }
type Document = {
  servers: { url: string }[]
  paths?: Record<string, PathItem>
  components: { responses?: Record<string, Response>; messages?: Record<string, Message> }
}

export type Operation = {
  method: string
  /** The path, with the API's base path. */
  path: string
  parameters: readonly Parameter[]
  requests: Named
  /** The body's media type; empty for an operation without a body. */
  type: string
}
export type Answer = {
  /** Null for a shared response without an operation. */
  status: string | null
  headers: Record<string, Header>
  examples: ReadonlyMap<string, { type: string; value: unknown }>
}
export type Contract = {
  operations: ReadonlyMap<string, Operation>
  /** Responses by operation and status, or by a shared response's name. */
  answers: ReadonlyMap<string, Answer>
  /** Every example by its name, such as `createSpeech 200: pcm`: requests, responses and messages. */
  examples: ReadonlyMap<string, unknown>
}

export function readContract(file: string): Contract {
  const document = resolved(file) as Document
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    operationsOf(item).map(
      ([method, raw]) => [raw.operationId, operationOf(document, path, method, raw, item.parameters ?? [])] as const,
    ),
  )
  const answers = answersOf(document, file)
  const examples = new Map<string, unknown>()
  for (const [id, { requests }] of operations)
    for (const [name, { value }] of Object.entries(requests)) examples.set(`${id}: ${name}`, value)
  for (const [holder, answer] of answers)
    for (const [name, { value }] of answer.examples) examples.set(`${holder}: ${name}`, value)
  for (const [message, { examples: list = [] }] of Object.entries(document.components.messages ?? {}))
    for (const [index, { name = String(index), payload }] of list.entries())
      examples.set(`${message}: ${name}`, payload)
  return { operations: new Map(operations), answers, examples }
}

function operationOf(
  { servers }: Document,
  path: string,
  method: string,
  raw: RawOperation,
  shared: readonly Parameter[],
): Operation {
  const [[type = '', media] = []] = Object.entries(raw.requestBody?.content ?? {})
  const base = servers[0]?.url.replace(/\/$/, '') ?? ''
  const parameters = [...shared, ...(raw.parameters ?? [])]
  return { method: method.toUpperCase(), path: base + path, parameters, requests: media?.examples ?? {}, type }
}

function answersOf(document: Document, file: string): Map<string, Answer> {
  const raw = read(file) as Document
  const answers = new Map<string, Answer>()
  for (const [name, { headers = {}, ...response }] of Object.entries(document.components.responses ?? {}))
    answers.set(name, { status: null, headers, examples: examplesOf(response) })
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    const written = writtenItem(raw.paths?.[path], file)
    for (const [method, { operationId, responses }] of operationsOf(item))
      for (const [status, { headers = {}, ...response }] of Object.entries(responses)) {
        const holder = nameOf(written?.[method]?.responses[status]?.$ref) ?? `${operationId} ${status}`
        answers.set(holder, { status, headers, examples: examplesOf(response) })
      }
  }
  return answers
}

function operationsOf(item: PathItem) {
  return methods.flatMap((method) => {
    const operation = item[method]
    return operation === undefined ? [] : [[method, operation] as const]
  })
}

/** Returns the path item in this file, or in the file it refers to. */
function writtenItem(item: PathItem | undefined, file: string): PathItem | undefined {
  if (item?.$ref === undefined) return item
  const [target = '', pointer = ''] = item.$ref.split('#')
  return at(read(fileOf(target, file)), pointer) as PathItem
}

function examplesOf({ content = {} }: Response): Answer['examples'] {
  const list = Object.entries(content).flatMap(([type, { examples = {} }]) =>
    Object.entries(examples).map(([name, { value }]) => [name, { type, value }] as const),
  )
  return new Map(list)
}

const nameOf = (reference: string | undefined) => reference?.slice(reference.lastIndexOf('/') + 1)

/** Each file is parsed once: to parse the YAML again for each path takes ten seconds. */
const documents = new Map<string, unknown>()

function read(file: string): unknown {
  const known = documents.get(file)
  if (known !== undefined) return known
  const document: unknown = parse(readFileSync(new URL(`../../specs/${file}`, import.meta.url), 'utf8'), {
    merge: true,
  })
  documents.set(file, document)
  return document
}

/** Returns the document with all references resolved, except in schemas, because they refer to themselves. */
function resolved(file: string): unknown {
  const resolve = (value: unknown, from: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => resolve(each, from))
    if (typeof value !== 'object' || value === null) return value
    if ('$ref' in value) return follow(String(value.$ref), from)
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, isOpaque(key) ? each : resolve(each, from)]),
    )
  }
  const follow = (reference: string, from: string): unknown => {
    const [target = '', pointer = ''] = reference.split('#')
    const name = fileOf(target, from)
    return resolve(at(read(name), pointer), name)
  }
  return resolve(read(file), file)
}

/** Returns the file for a reference in `from`. Both are paths from specs/. */
function fileOf(target: string, from: string): string {
  return target === '' ? from : posix.join(posix.dirname(from), target)
}

function at(document: unknown, pointer: string): unknown {
  const keys = pointer.split('/').slice(1)
  return keys.reduce((value, key) => (value as Record<string, unknown>)[key.replaceAll('~1', '/')], document)
}

const isOpaque = (key: string) => ['schema', 'schemas', 'payload', 'value', 'x-sse-events'].includes(key)
