/** Converts one AsyncAPI document to the intermediate representation (ir.ts), as load-openapi.ts does for OpenAPI. */
import type { AsyncApiDocument, Channel, CloseRow, Message } from './ir.ts'
import { documentName, type Loaded, load, lowerComponents, type Source } from './load.ts'
import { type Ref, resolve } from './reference.ts'
import { escapePointer, type Schema, unescapePointer } from './schema.ts'

const lintRules = {
  // The service is self-hosted, so its operator publishes a contact address, and our document has no contact.
  'info-contact': 'off',
  // The channel addresses are HTTP paths. OpenAI has chosen the spelling of some paths, so the rule cannot be followed.
  'channels-kebab-case': 'off',
} as const

export function loadAsyncApi(source: Source): Promise<Loaded<AsyncApiDocument>> {
  return load(source, lintRules, (bundled) => {
    const raw = bundled as RawDocument
    if (!raw.asyncapi?.startsWith('3.')) throw new Error('it is not AsyncAPI 3')
    return lowerAsyncApi(raw, source)
  })
}

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
  'x-role'?: string
  'x-subprotocol'?: string
  'x-subprotocol-required'?: boolean
  'x-credential-prefix'?: string
  'x-open-frames'?: boolean
  'x-frame-type'?: string
  bindings?: { ws?: { query?: { properties?: Record<string, { enum?: string[] }> } } }
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

/** Converts the document `bundled`, which has been checked and has no references to other files. */
export function lowerAsyncApi(bundled: object, { file, shared }: Pick<Source, 'file' | 'shared'>): AsyncApiDocument {
  const raw = bundled as RawDocument
  return {
    ...lowerComponents(raw.components?.schemas ?? {}, shared),
    kind: 'asyncapi',
    name: documentName(file),
    file,
    source: raw,
    channels: Object.entries(raw.channels ?? {}).map(([id, channel]) => lowerChannel(raw, id, channel)),
    errors: Object.fromEntries(
      Object.entries(raw['x-error-codes'] ?? {}).map(([code, row]) => [
        code,
        {
          closeCode: row.closeCode === undefined ? 0 : row.closeCode,
          retryable: row.retryable ?? false,
          message: row.message ?? '',
        },
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
    role: channel['x-role'] ?? null,
    subprotocol: channel['x-subprotocol'] ?? null,
    requiresSubprotocol: channel['x-subprotocol-required'] ?? null,
    credentialPrefix: channel['x-credential-prefix'] ?? null,
    query: Object.entries(channel.bindings?.ws?.query?.properties ?? {}).map(([name, schema]) => ({
      name,
      values: schema.enum ?? [],
    })),
    openFrames: channel['x-open-frames'] ?? false,
    frameType: channel['x-frame-type'] ?? 'type',
    receives: messages('receive'),
    sends: messages('send'),
    pointer,
  }
}

/**
 * Converts one message. Its pointer names the message, not the channel with the message. So a message shared by many
 * channels is reported once.
 */
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
