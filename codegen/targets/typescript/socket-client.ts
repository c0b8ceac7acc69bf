/**
 * Emits <name>.ts of the client's package: the channels' rows and types. client-socket.ts has the code that all
 * channels share.
 */
import { type AsyncApiDocument, type Channel, type Message, pascal } from '../../ir.ts'
import type { View } from '../../views.ts'
import { clientViewsOf } from '../../views.ts'
import { banner, print } from './print.ts'
import { TypeNames } from './type-names.ts'

export function emitSocketClient(document: AsyncApiDocument): string {
  const { file, name, channels } = document
  const names = new TypeNames(clientViewsOf(document))
  const typesModule = `./models/${name}.ts`
  const sockets = channels.map((channel) => emitChannel(channel, names))
  const rows = Object.fromEntries(
    channels.map(({ id, address, subprotocol, credentialPrefix }) => [id, { address, subprotocol, credentialPrefix }]),
  )
  const surface = pascal(name)
  return `${banner('socket-client', file)}
import { openSocket, type TypedSocket } from './socket.ts'
import type { CloseRows } from './socket-close.ts'
import type { ChannelRow, SocketClientOptions } from './socket-open.ts'
${names.importFrom(typesModule)}
export { ApiError, ConnectionError, ParleyError, ProtocolError, RequestTimeoutError } from './api-error.ts'
export type { Closed, TypedSocket } from './socket.ts'
export { SocketClosedError } from './socket-close.ts'
export type { SocketClientOptions, SocketConstructor } from './socket-open.ts'
export type * from '${typesModule}'

${sockets.join('\n')}
export type ${surface}Client = {
${channels.map(emitMember).join('')}}

export function create${surface}Client(options: SocketClientOptions): ${surface}Client {
  return {
${channels.map(emitOpen).join('')}  }
}

const channels = ${print(rows)} satisfies Record<string, ChannelRow>

const closeRows: CloseRows = ${print(document.errors)}
`
}

function emitMember({ id, address, parameters }: Channel): string {
  const path = parameters.length === 0 ? '' : `path: { ${parameters.map((name) => `${name}: string`).join('; ')} }, `
  return `  /** ${address} */\n  ${id}(${path}query?: Readonly<Record<string, string>>): ${pascal(id)}Socket\n`
}

function emitOpen({ id, parameters }: Channel): string {
  return parameters.length === 0
    ? `    ${id}: (query) => openSocket(channels.${id}, closeRows, options, query),\n`
    : `    ${id}: (path, query) => openSocket(channels.${id}, closeRows, options, query, path),\n`
}

function emitChannel({ id, title, receives, sends }: Channel, names: TypeNames): string {
  const [sent, answered] = [union(receives, 'sent', names), union(sends, 'answered', names)]
  return `/** ${title} */\nexport type ${pascal(id)}Socket = TypedSocket<\n  ${sent},\n  ${answered}\n>\n`
}

function union(messages: readonly Message[], view: View, names: TypeNames): string {
  const components = messages.flatMap(({ component, isBinary }) => (isBinary || component === null ? [] : [component]))
  return components.map((component) => names.component(component, view)).join(' | ')
}
