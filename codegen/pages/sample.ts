/** A sample request for the snippets, made from the contract's examples. */
import { isBinary, resolveSchema, type Schema } from '../schema.ts'
import type { Content, Contract, Operation } from './contract.ts'

export type SamplePart = { name: string; kind: 'file' | 'json' | 'text'; value: unknown }

export type SampleBody =
  | { kind: 'json'; value: unknown }
  | { kind: 'multipart'; parts: SamplePart[] }
  | { kind: 'file'; type: string }

export type Sample = {
  operation: Operation
  surface: string
  /** The values in the path. */
  path: Record<string, unknown>
  /** The required query parameters. */
  query: Record<string, unknown>
  headers: Record<string, string>
  body: SampleBody | null
  /** The type of a successful response, or null if it has no content. */
  answerType: string | null
  answersBytes: boolean
}

/** Snippets send this file as audio, because in the contract's examples a text stands for audio. */
export const sampleFile = 'recording.wav'

export function sampleOf(contract: Contract, operation: Operation): Sample {
  const { schemas } = contract
  const content = operation.body?.content[0]
  const success = operation.answers.find(({ status }) => status.startsWith('2'))?.content[0]
  const valuesIn = (place: string) =>
    operation.parameters.filter((parameter) => parameter.in === place && (parameter.required || place === 'path'))
  return {
    operation,
    surface: contract.name,
    path: Object.fromEntries(valuesIn('path').map(({ name, example }) => [name, example ?? name])),
    query: Object.fromEntries(valuesIn('query').map(({ name, example }) => [name, example ?? name])),
    headers: Object.fromEntries(valuesIn('header').map(({ name, example }) => [name, headerText(example ?? name)])),
    body: content && (operation.body?.required || content.examples.length > 0) ? bodyOf(content, schemas) : null,
    answerType: success?.type ?? null,
    answersBytes: success !== undefined && !isText(success.type) && isBinary(success.schema, { ...schemas }),
  }
}

/** True if the body, or a part of the body, is a recording in a file. */
export const usesFile = (body: SampleBody) =>
  body.kind === 'file' || (body.kind === 'multipart' && body.parts.some(({ kind }) => kind === 'file'))

const headerText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
const isText = (type: string) => type.startsWith('text/') || type === 'application/json'

function bodyOf(content: Content, schemas: Contract['schemas']): SampleBody {
  const value = firstWithoutStream(content)
  if (content.type === 'multipart/form-data') return { kind: 'multipart', parts: partsOf(content, value, schemas) }
  if (content.type === 'application/json') return { kind: 'json', value: value ?? {} }
  return { kind: 'file', type: content.type }
}

/**
 * Returns the first example that does not ask for a stream, because its response is one JSON text. Without such an
 * example, returns the first example.
 */
function firstWithoutStream({ examples }: Content): unknown {
  const isStream = (value: unknown) =>
    typeof value === 'object' && value !== null && 'stream' in value && value.stream === true
  return (examples.find(({ value }) => !isStream(value)) ?? examples[0])?.value
}

function partsOf({ schema }: Content, value: unknown, schemas: Contract['schemas']): SamplePart[] {
  const target = resolveSchema({ ...schemas }, schema ?? true)
  const fields = typeof target === 'object' ? (target.properties ?? {}) : {}
  return Object.entries(value ?? {}).map(([name, part]): SamplePart => {
    const field = fields[name] ?? true
    if (isBinary(field, { ...schemas })) return { name, kind: 'file', value: sampleFile }
    return { name, kind: isObject(field, schemas) ? 'json' : 'text', value: part as unknown }
  })
}

function isObject(field: Schema, schemas: Contract['schemas']): boolean {
  const target = resolveSchema({ ...schemas }, field)
  return typeof target === 'object' && (target.type === 'object' || target.properties !== undefined)
}
