/** Writes snippets for a request and for a socket with the generated client for TypeScript. */
import { idempotencyKey } from '../ir.ts'
import type { Channel, Contract } from './contract.ts'
import { literal, object, type Syntax } from './literal.ts'
import { type Sample, type SampleBody, sampleFile, usesFile } from './sample.ts'

const keyOption = `apiKey: process.env['PARLEY_API_KEY'] ?? ''`

export function typescriptRequest(sample: Sample): string {
  const { operation, surface, path, query, headers, body, answerType } = sample
  const files = body !== null && usesFile(body) ? [`import { readFile } from 'node:fs/promises'`] : []
  const call = [
    ...part('path', path),
    ...part('query', query),
    ...headerParts(headers),
    ...(body === null ? [] : [`body: ${bodyText(body)}`]),
  ]
  const input = call.length === 0 ? '' : object(call, '', syntax)
  const isStream = answerType === 'text/event-stream'
  return `${[...files, `import { ${factoryOf(surface)} } from '@parley/client/${surface}'`].join('\n')}

const ${surface} = ${factoryOf(surface)}({
  baseUrl: process.env['PARLEY_URL'] ?? '',
  ${keyOption},
})
${answerType === null ? '' : 'const answer = '}await ${surface}.${operation.id}(${input})
${isStream ? 'for await (const event of answer.body) console.log(event)' : answerType === null ? '' : 'console.log(answer.body)'}`.trimEnd()
}

export function typescriptSocket(channel: Channel, { name }: Contract): string {
  const hasPath = channel.address.includes('{')
  const parameters = [...channel.address.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => `${parameter}: '…'`)
  const first = channel.received.find(({ isBinary, examples }) => !isBinary && examples.length > 0)
  const last = channel.sent.filter(({ isBinary }) => !isBinary)
  const socket = camel(channel.id)
  return `import WebSocket from 'ws'
import { ${factoryOf(name)}, type SocketClientOptions } from '@parley/client/${name}'

const options = {
  baseUrl: process.env['PARLEY_URL'] ?? '',
  WebSocket: WebSocket as unknown as SocketClientOptions['WebSocket'],
  ${keyOption},
}
const ${socket} = ${factoryOf(name)}(options).${channel.id}(${hasPath ? `{ ${parameters.join(', ')} }` : ''})
${last.map(({ name: frame }) => `${socket}.on('${frame}', (frame) => console.log(frame))`).join('\n')}
await ${socket}.opened
${first === undefined ? '' : `await ${socket}.send(${literal(first.examples[0]?.value, '', syntax)})`}`.trimEnd()
}

const factoryOf = (surface: string) => `create${surface.charAt(0).toUpperCase()}${surface.slice(1)}Client`
const camel = (id: string) => id.charAt(0).toLowerCase() + id.slice(1)

/**
 * Leaves out the idempotency key, because the client makes it. All other headers are written as they go over the wire.
 */
function headerParts(headers: Record<string, string>): string[] {
  const given = Object.entries(headers).filter(([name]) => name !== idempotencyKey)
  return part('headers', Object.fromEntries(given))
}

function part(name: string, values: Record<string, unknown>): string[] {
  return Object.keys(values).length === 0 ? [] : [`${name}: ${literal(values, '  ', syntax)}`]
}

function bodyText(body: SampleBody): string {
  if (body.kind === 'json') return literal(body.value, '  ', syntax)
  const file = `new Blob([await readFile('${sampleFile}')])`
  if (body.kind === 'file') return file
  const parts = body.parts.map(({ name, kind, value }) => {
    return `${key(name)}: ${kind === 'file' ? file : literal(value, '    ', syntax)}`
  })
  return `{\n    ${parts.join(',\n    ')},\n  }`
}

const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name))

/** Quotes a text. JavaScript has the same escapes as JSON. */
const quote = (text: string) =>
  text.includes("'") ? JSON.stringify(text) : `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')}'`

const syntax: Syntax = { text: quote, constant: String, key, indent: '  ', padding: ' ' }
