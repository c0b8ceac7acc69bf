/**
 * Sends a request from the contract's examples and compares the response with the operation's example. `complete` fails
 * if an example is neither compared nor listed with a reason.
 */
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { judgedFetch } from '../oracle.ts'
import { type FormPart, form, type Target } from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { differences, formOf, unmatched } from './compare.ts'
import { type Answer, type Contract, type Operation, readContract } from './contract.ts'
import { cuesOf, runsOf } from './streams.ts'

export type Sent = {
  operation: string
  /** The request example to send, by its name. */
  request?: string
  /** Fields sent instead of the example's fields, or beside them. */
  fields?: object
  /** The parameters sent with their example values. Path parameters are always sent. */
  parameters?: readonly string[]
  /** Parameter values sent instead of the example values. */
  values?: Record<string, string>
  headers?: Record<string, string>
  /** A body to send instead of the example's body. */
  body?: string
  /** Audio to send instead of the example's audio. */
  audio?: Uint8Array
}

export type Received = { status: number; headers: Headers; body: Buffer }

export type Expected = {
  /** The expected example's name, such as `createSpeech 200: pcm`. */
  example: string
  /** JSON pointers to lists. The example shows only some elements in these lists. */
  parts?: readonly string[]
  /** Names in the example and in the answer, where they differ because an example names no vendor. */
  renamed?: Record<string, string>
}

export class Examples {
  readonly contract: Contract
  readonly #compared = new Set<string>()

  constructor(file: string) {
    this.contract = readContract(file)
  }

  async send(target: Target, sent: Sent): Promise<Received> {
    const operation = this.#operation(sent.operation)
    const { body, type } = this.#body(operation, sent)
    const query = given(operation, sent, 'query')
    const search = query.length > 0 ? `?${new URLSearchParams(query).toString()}` : ''
    const path = given(operation, sent, 'path').reduce(
      (at, [name, value]) => at.replace(`{${name}}`, encodeURIComponent(value)),
      operation.path,
    )
    return receive(target, path + search, {
      method: operation.method,
      headers: {
        'idempotency-key': randomUUID(),
        ...(type !== '' && { 'content-type': type }),
        ...Object.fromEntries(given(operation, sent, 'header')),
        ...sent.headers,
      },
      ...(body !== undefined && { body: body as string }),
    })
  }

  /** Checks that a response and its headers match the example. */
  compare(t: Test, received: Received, expected: Expected): void {
    const { status, headers, body } = received
    const [holder = '', name = ''] = expected.example.split(': ')
    const answer = this.contract.answers.get(holder)
    const example = answer?.examples.get(name)
    if (answer === undefined || example === undefined) throw new Error(`no example ${expected.example}`)
    this.#compared.add(expected.example)
    t.equal(String(status), answer.status ?? String(status), `status: ${body.toString('utf8', 0, 1000)}`)
    t.same(differencesOfHeaders(answer, headers), [], `${expected.example}: headers`)
    t.equal(mediaType(headers), example.type, `${expected.example}: media type`)
    let text = body.toString()
    for (const [actual, written] of Object.entries(expected.renamed ?? {})) text = text.replaceAll(actual, written)
    const found = differencesOfBodies(example, { text, body }, expected.parts)
    t.same(found, [], expected.example, { answer: text.slice(0, 3000) })
  }

  /**
   * Asserts that an error, recorded by another test, has the message and the hint in the contract's example for it.
   * Only seconds may differ.
   */
  compareWords(t: Test, address: string, recorded: readonly { code: string; message: string; hint: string }[]): void {
    const wordsOf = ({ code, message, hint }: { code: string; message: string; hint: string }) =>
      `${code}: ${message} ${hint}`.replaceAll(/\d+ s\b/g, 'N s')
    const { error } = this.contract.examples.get(address) as { error: Parameters<typeof wordsOf>[0] }
    this.#compared.add(address)
    t.ok(recorded.map(wordsOf).includes(wordsOf(error)), `${address}: ${wordsOf(error)}`)
  }

  /** Asserts that the document begins with the example's lines. The example has only the first lines. */
  async compareDocument(t: Test, target: Target, operation: string): Promise<void> {
    const [[name, example] = []] = this.contract.answers.get(`${operation} 200`)?.examples ?? []
    this.#compared.add(`${operation} 200: ${name}`)
    const { headers, body } = await this.send(target, { operation })
    t.equal(mediaType(headers), example?.type)
    t.match(JSON.parse(body.toString()), example?.value)
  }

  /** Returns an example's frame, for a client to send. */
  frame(address: string): object {
    this.#compared.add(address)
    const frame = this.contract.examples.get(address)
    if (frame === undefined) throw new Error(`no example ${address}`)
    return frame as object
  }

  /** Asserts that a frame matches its message's example. */
  compareFrame(t: Test, address: string, frame: unknown): void {
    t.same(differences(this.frame(address), frame), [], address, { frame })
  }

  /** Fails if an example was not compared. `listed` names the examples without a comparison, with the reason. */
  complete(t: Test, listed: Record<string, string>): void {
    const all = [...this.contract.examples.keys()]
    const neither = all.filter((address) => !this.#compared.has(address) && !Object.hasOwn(listed, address))
    t.same(neither, [], 'each example is compared with an answer, or is listed with a reason')
    const stale = Object.keys(listed).filter((address) => this.#compared.has(address) || !all.includes(address))
    t.same(stale, [], 'no example is listed that does not exist or that is compared')
  }

  /** Returns the body to send. A request example counts as compared once it was sent. */
  #body(operation: Operation, sent: Sent): { body?: string | Uint8Array; type: string } {
    const { request, fields, audio = new Uint8Array(), body } = sent
    if (body !== undefined) return { body, type: operation.type }
    if (request === undefined) return { type: '' }
    this.#compared.add(`${sent.operation}: ${request}`)
    const { value } = operation.requests[request] ?? { value: undefined }
    if (value === undefined) throw new Error(`${sent.operation} has no request ${request}`)
    if (operation.type === 'application/octet-stream') return { body: audio, type: 'audio/wav' }
    const whole = { ...(value as object), ...fields }
    if (operation.type === 'multipart/form-data') return form(Object.entries(whole).flatMap(partsOf(audio)))
    return { body: JSON.stringify(whole), type: operation.type }
  }

  #operation(id: string): Operation {
    const operation = this.contract.operations.get(id)
    if (operation === undefined) throw new Error(`no operation ${id}`)
    return operation
  }
}

export async function receive({ url, key }: Target, path: string, init: RequestInit = {}): Promise<Received> {
  const headers = { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string> | undefined) }
  const answer = await judgedFetch(url + path, { ...init, headers })
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) }
}

/** Returns the refusal if an address is over its quota. If a window begins meanwhile, two requests are still in one. */
export async function receiveOverQuota(t: Test, path: string): Promise<Received> {
  const server = await ownServer(t, { PARLEY_EDGE_QUOTA: '1' })
  const received = await Promise.all([1, 2, 3].map(() => receive(server, path)))
  const refused = received.find(({ status }) => status !== 200)
  if (refused === undefined) throw new Error('three requests are within the quota of one')
  return refused
}

function given({ parameters }: Operation, sent: Sent, where: string): [string, string][] {
  return parameters
    .filter(({ name, in: place }) => place === where && (place === 'path' || sent.parameters?.includes(name)))
    .map(({ name, example, content }) => {
      const value = sent.values?.[name] ?? example ?? JSON.stringify(content?.['application/json']?.example)
      return [name, value as string]
    })
}

const partsOf =
  (audio: Uint8Array) =>
  ([name, value]: [string, unknown]): FormPart[] => {
    if (name === 'audio' || name === 'file')
      return [{ name, type: 'application/octet-stream', data: audio, filename: 'recording.wav' }]
    if (Array.isArray(value)) return value.map((each) => ({ name, type: 'text/plain', data: String(each) }))
    return typeof value === 'object'
      ? [{ name, type: 'application/json', data: JSON.stringify(value) }]
      : [{ name, type: 'text/plain', data: value as string }]
  }

/** These headers may differ, because many operations share their examples. */
const namesOfRoutes = /^(service-provider|service-model|x-service-provider|x-service-model|x-service-ignored|x-route)$/i

function differencesOfHeaders({ headers }: Answer, received: Headers): string[] {
  return Object.entries(headers).flatMap(([name, { required, example }]) => {
    const value = received.get(name)
    if (value === null) return required ? [`${name} is missing`] : []
    const forms = [example, value].map((text) => formOf(text).replaceAll(/\d+/g, '0'))
    return namesOfRoutes.test(name) || forms[0] === forms[1] ? [] : [`${name}: ${forms.join(' in the example, ')}`]
  })
}

const mediaType = (headers: Headers) => (headers.get('content-type') ?? '').replace(/;.*/, '')

type Body = { text: string; body: Buffer }

function differencesOfBodies(
  { type, value }: { type: string; value: unknown },
  answer: Body,
  parts?: readonly string[],
): string[] {
  if (type === 'application/json') return differencesOfJson(value, JSON.parse(answer.text), parts)
  const example = value as string
  if (type === 'text/event-stream') return differencesOfStreams(runsOf(example), runsOf(answer.text))
  if (type === 'text/plain' && example.includes('-->')) return differences(cuesOf(example), cuesOf(answer.text))
  if (type === 'text/plain') return answer.text.trim() === '' ? ['no text'] : []
  const isWav = answer.body.toString('latin1', 0, 4) === 'RIFF' && answer.body.toString('latin1', 8, 15) === 'WAVEfmt'
  if (answer.body.length < 1000) return ['no audio']
  return isWav === example.startsWith('RIFF') ? [] : ['a WAV header on one side only']
}

function differencesOfJson(example: unknown, answer: unknown, parts: readonly string[] = []): string[] {
  const rest = structuredClone(example)
  const ofParts = parts.flatMap((part) => unmatched(listAt(rest, part).splice(0), listAt(answer, part).splice(0), part))
  return [...ofParts, ...differences(rest, answer)]
}

function listAt(value: unknown, pointer: string): unknown[] {
  const keys = pointer.split('/').slice(1)
  return keys.reduce((at, key) => (at as Record<string, unknown>)[key], value) as unknown[]
}

type Runs = ReturnType<typeof runsOf>

function differencesOfStreams(example: Runs, answer: Runs): string[] {
  const orders = [example, answer].map((runs) => runs.map(({ kind }) => kind).join(', '))
  if (orders[0] !== orders[1]) return [`${orders[0]} in the example, ${orders[1]} in the answer`]
  return example.flatMap(({ kind, events }, index) => differences(events, answer[index]?.events, kind))
}

/** Returns the id of the resource in an answer. */
export const idOf = (received: Received) => (JSON.parse(received.body.toString()) as { id: string }).id
