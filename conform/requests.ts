/** Makes requests from the examples in the documents. */
import { randomUUID } from 'node:crypto'
import { wavHeader } from '../audio/wav.ts'
import type { Operation } from './contract.ts'
import type { Sent } from './http.ts'

/** One part in a multipart body. */
export type Part = { name: string; type: string; data: string | Buffer }

/** The parts from which a request is made. Without `ids`, a path has the ids from the examples. */
export type Wanted = {
  operation: Operation
  key: string | null
  ids?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  /** The body: an example, or a value like it. Undefined for a request without a body. */
  value?: unknown
  audio?: Buffer
  leaves?: Sent['leaves']
}

export function requestOf({ operation, key, ids = {}, query = {}, headers = {}, value, audio, leaves }: Wanted): Sent {
  const { method, parameters, body } = operation
  const content =
    value === undefined || body === null
      ? { body: undefined, type: undefined }
      : contentOf(body.media.type, value, audio ?? recordingOf(1))
  const search = new URLSearchParams({ ...examplesOf(operation, 'query'), ...query }).toString()
  const path = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce(
      (at, { name, example }) => at.replace(`{${name}}`, encodeURIComponent(ids[name] ?? String(example))),
      operation.path,
    )
  return {
    method,
    path: search === '' ? path : `${path}?${search}`,
    headers: {
      ...authorization(key),
      ...examplesOf(operation, 'header'),
      ...(keyed(operation) && { 'idempotency-key': randomUUID() }),
      ...(content.type !== undefined && { 'content-type': content.type }),
      ...headers,
    },
    body: content.body,
    ...(leaves && { leaves }),
  }
}

export const authorization = (key: string | null) => (key === null ? {} : { authorization: `Bearer ${key}` })

/** No server has issued this API key. */
export const unknownKey = 'conform-unknown-key-0000000000000000'

/** Says whether the operation takes an idempotency key. */
export function keyed({ parameters }: Operation): boolean {
  return parameters.some(({ in: place, name }) => place === 'header' && name.toLowerCase() === 'idempotency-key')
}

/** Returns the first example request. Undefined if the operation takes no body. */
export function firstExample({ body }: Operation): unknown {
  return body === null ? undefined : [...body.media.examples.values()][0]
}

/** Returns the required parameters' examples in this location (path, query or header). */
function examplesOf({ parameters }: Operation, place: 'query' | 'header'): Record<string, string> {
  const required = parameters.filter(({ in: where, required }) => where === place && required)
  return Object.fromEntries(required.map(({ name, example }) => [name.toLowerCase(), String(example)]))
}

function contentOf(type: string, value: unknown, audio: Buffer): { body: string | Buffer; type: string } {
  if (type === 'application/json') return { body: JSON.stringify(value), type }
  if (type !== 'multipart/form-data') return { body: audio, type: 'audio/wav' }
  return form(partsOf(value as Record<string, unknown>, audio))
}

/** Returns a multipart example's parts, in their order. */
export function partsOf(value: Readonly<Record<string, unknown>>, audio: Buffer): Part[] {
  const isRaw = (value['request'] as { audio?: unknown } | undefined)?.audio !== undefined
  return Object.entries(value).flatMap(([name, field]): Part[] => {
    if (name === 'audio' || name === 'file')
      return [{ name, type: 'application/octet-stream', data: isRaw ? rawMulaw : audio }]
    if (Array.isArray(field)) return field.map((each) => ({ name, type: 'text/plain', data: String(each) }))
    if (typeof field === 'string') return [{ name, type: 'text/plain', data: field }]
    const type = typeof field === 'object' ? 'application/json' : 'text/plain'
    return [{ name, type, data: JSON.stringify(field) }]
  })
}

/** Writes multipart/form-data (RFC 7578) with the parts in this order. */
export function form(parts: readonly Part[]): { body: Buffer; type: string } {
  const boundary = `b${randomUUID()}`
  const pieces = parts.flatMap(({ name, type, data }) => {
    const file = typeof data === 'string' ? '' : '; filename="recording.wav"'
    const head = `Content-Disposition: form-data; name="${name}"${file}\r\nContent-Type: ${type}`
    return [Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), Buffer.from(data), Buffer.from('\r\n')]
  })
  const end = Buffer.from(`--${boundary}--\r\n`)
  return { body: Buffer.concat([...pieces, end]), type: `multipart/form-data; boundary=${boundary}` }
}

/** A second with silence in mu-law, for examples with raw samples. */
const rawMulaw = Buffer.alloc(8_000, 0xff)
export const rateHz = 16_000

/** Makes a WAV file from 16-bit samples. Without samples it is silent. */
export function recordingOf(seconds: number, samples: Buffer = Buffer.alloc(2 * rateHz * seconds)): Buffer {
  const format = { encoding: 'pcm_s16le', sampleRateHz: rateHz, channels: 1 } as const
  return Buffer.concat([wavHeader(format, samples.length), samples])
}

/** Returns an id in the same form, with zeros at its end, so no resource has it. */
export function unknownId(id: string): string {
  let left = 8
  const isReplaced = (character: string) => /[A-Za-z0-9]/.test(character) && left-- > 0
  return [...id]
    .reverse()
    .map((character) => (isReplaced(character) ? '0' : character))
    .reverse()
    .join('')
}
