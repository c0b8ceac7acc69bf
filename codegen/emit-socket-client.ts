/** generated/clients/<name>.ts: the channels' rows and types over the one engine in client-socket.ts, which is copied as it stands. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { textFrames } from './emit-frames.ts'
import type { AsyncApiDocument, Channel, Message } from './ir.ts'
import { banner, pascal, print, printImport } from './print.ts'

export function emitSocketEngine(): string {
  const engine = readFileSync(join(import.meta.dirname, 'client-socket.ts'), 'utf8')
  return `${banner('emit-socket-client', 'codegen/client-socket.ts')}\n${engine}`
}

export function emitSocketClient({ file, name, channels }: AsyncApiDocument): string {
  const components = [...new Set(textFrames(channels).map(({ component }) => component))].sort()
  const rows = Object.fromEntries(
    channels.map(({ id, address, subprotocol, credentialPrefix }) => [id, { address, subprotocol, credentialPrefix }]),
  )
  const surface = pascal(name)
  return `${banner('emit-socket-client', file)}
import { type ChannelRow, openSocket, type SocketClientOptions, type TypedSocket } from './socket.ts'
${printImport(components, `./${name}-types.ts`)}
export type { SocketClientOptions } from './socket.ts'

${channels.map(emitChannel).join('\n')}
export type ${surface}Client = {
${channels.map(emitMember).join('')}}

export function create${surface}Client(options: SocketClientOptions): ${surface}Client {
  return {
${channels.map(emitOpen).join('')}  }
}

const channels = ${print(rows)} satisfies Record<string, ChannelRow>
`
}

function emitMember({ id, address, parameters }: Channel): string {
  const path = parameters.length === 0 ? '' : `path: { ${parameters.map((name) => `${name}: string`).join('; ')} }, `
  return `  /** ${address} */\n  ${id}(${path}query?: Readonly<Record<string, string>>): ${pascal(id)}Socket\n`
}

function emitOpen({ id, parameters }: Channel): string {
  return parameters.length === 0
    ? `    ${id}: (query) => openSocket(channels.${id}, options, query),\n`
    : `    ${id}: (path, query) => openSocket(channels.${id}, options, query, path),\n`
}

function emitChannel({ id, title, receives, sends }: Channel): string {
  return `/** ${title} */\nexport type ${pascal(id)}Socket = TypedSocket<\n  ${union(receives)},\n  ${union(sends)}\n>\n`
}

function union(messages: Message[]): string {
  return messages.flatMap(({ component, isBinary }) => (isBinary || component === null ? [] : [component])).join(' | ')
}
