/** Reads one AsyncAPI document: resolve and lint with redocly, then lower to the IR, as load.ts does for OpenAPI. */
import { bundleFromString, createConfig, lintFromString } from '@redocly/openapi-core'
import type { AsyncApiDocument, Channel, CloseRow, Message, Problem, Schema } from './ir.ts'
import { documentName, fromRedocly, resolve } from './load.ts'
import { escapePointer, unescapePointer } from './schema.ts'

export type LoadedAsync = { document: AsyncApiDocument; problems: [] } | { document: null; problems: Problem[] }

const lintRules = {
  // The address of a self-hosted service is its owner's to say; ours has no contact.
  'info-contact': 'off',
  // The addresses are those of HTTP paths, some of which are not ours to spell.
  'channels-kebab-case': 'off',
} as const

/** `file` is the path as messages and banners print it, `path` where the references of `text` start from. */
export async function loadAsyncApi(text: string, file: string, path: string): Promise<LoadedAsync> {
  try {
    return await read(text, file, path)
  } catch (error) {
    const message = `cannot be read: ${(error as Error).message.replaceAll(path, file)}`
    return { document: null, problems: [{ rule: 'read', file, pointer: '#/', message }] }
  }
}

async function read(source: string, file: string, path: string): Promise<LoadedAsync> {
  const config = await createConfig({ extends: ['recommended'], rules: lintRules, telemetry: 'off' })
  const lint = await lintFromString({ source, absoluteRef: path, config })
  if (lint.length > 0) return { document: null, problems: lint.map((problem) => fromRedocly(problem, file)) }
  const { bundle } = await bundleFromString({ source, absoluteRef: path, config })
  const document = bundle.parsed as RawDocument
  if (!document.asyncapi?.startsWith('3.')) throw new Error('it is not AsyncAPI 3')
  return { document: lower(document, file), problems: [] }
}

type Ref = { $ref?: string }
type RawMessage = {
  name?: string
  contentType?: string
  payload?: Ref
  examples?: { payload?: unknown }[]
} & Ref
type RawChannel = {
  title?: string
  address?: string | null
  'x-scope'?: string
  'x-subprotocol'?: string
  'x-subprotocol-required'?: boolean
  'x-credential-prefix'?: string
  'x-open-frames'?: boolean
} & Ref
type RawOperation = { action: 'send' | 'receive'; channel: Ref; messages?: RawMessage[] } & Ref
type RawDocument = {
  asyncapi?: string
  defaultContentType?: string
  channels?: Record<string, RawChannel>
  operations?: Record<string, RawOperation>
  components?: { schemas?: Record<string, Schema> }
  'x-error-codes'?: Record<string, Partial<CloseRow>>
} & Record<string, unknown>

function lower(raw: RawDocument, file: string): AsyncApiDocument {
  return {
    kind: 'asyncapi',
    name: documentName(file),
    file,
    source: raw,
    channels: Object.entries(raw.channels ?? {}).map(([id, channel]) => lowerChannel(raw, id, channel)),
    schemas: raw.components?.schemas ?? {},
    errors: Object.fromEntries(
      Object.entries(raw['x-error-codes'] ?? {}).map(([code, row]) => [
        code,
        { closeCode: row.closeCode ?? 0, retryable: row.retryable ?? false, message: row.message ?? '' },
      ]),
    ),
  }
}

function lowerChannel(raw: RawDocument, id: string, channel: RawChannel): Channel {
  const pointer = `#/channels/${escapePointer(id)}`
  const operations = Object.values(raw.operations ?? {}).filter((operation) => operation.channel.$ref === pointer)
  const messages = (action: RawOperation['action']) =>
    operations
      .filter((operation) => operation.action === action)
      .flatMap((operation) => operation.messages ?? [])
      .map((message) => lowerMessage(raw, message))
  const address = channel.address ?? ''
  return {
    id,
    title: channel.title ?? id,
    address,
    parameters: [...address.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ''),
    scope: channel['x-scope'] ?? null,
    subprotocol: channel['x-subprotocol'] ?? null,
    requiresSubprotocol: channel['x-subprotocol-required'] ?? null,
    credentialPrefix: channel['x-credential-prefix'] ?? null,
    openFrames: channel['x-open-frames'] ?? false,
    receives: messages('receive'),
    sends: messages('send'),
    pointer,
  }
}

/** The pointer is the message's own, wherever it is used: what many channels share is reported once. */
function lowerMessage(raw: RawDocument, reference: RawMessage): Message {
  const channelMessage = (reference.$ref ?? '').slice(2).split('/').map(unescapePointer)
  const used = channelMessage.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], raw) as RawMessage
  const message = resolve(raw, used)
  const pointer = used.$ref ?? reference.$ref ?? '#/'
  const type = message.contentType ?? raw.defaultContentType ?? 'application/json'
  const ref = message.payload?.$ref
  return {
    type: message.name ?? '',
    isBinary: type === 'application/octet-stream',
    component: ref === undefined ? null : unescapePointer(ref.split('/').at(-1) ?? ''),
    examples: (message.examples ?? []).flatMap((example, i) =>
      'payload' in example ? [{ value: example.payload, pointer: `${pointer}/examples/${i}` }] : [],
    ),
    pointer,
  }
}
