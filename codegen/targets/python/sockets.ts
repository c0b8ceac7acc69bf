/** Emits <surface>.py for an API of sockets: a channel for each socket, and a sync and an async client. */
import type { ClientChannel, Surface } from '../../clients/model.ts'
import { pascalCase, snakeCase, upperCase } from '../../clients/names.ts'
import { type Modules, printImports } from './imports.ts'
import { banner, brackets, docstring, filled, literal, pythonName } from './print.ts'

export function emitSockets(surface: Surface): string {
  const { name, file, channels } = surface
  const rows = channels.map((channel) => emitRow(channel)).join('')
  const body = [emitCloses(surface), rows, emitClient(surface, ''), emitClient(surface, 'Async')].join('\n\n')
  const imports = printImports(modules, body, `from .schemas import ${snakeCase(name)} as types\n`)
  return `${banner('sockets', file)}"""The sockets of the surface \`${name}\`."""\n\n${imports}\n${body}`
}

/** An error without a close code leaves the socket open. */
function emitCloses({ closeCodes }: Surface): string {
  const closing = Object.entries(closeCodes ?? {}).filter(([, { closeCode }]) => closeCode !== null)
  const rows = closing.map(([code, { retryable }]) => `${literal(code)}: ${literal(retryable)}`)
  return filled('_CLOSES: CloseTable = {', rows, '}')
}

const rowName = ({ id }: ClientChannel) => `_${upperCase(id)}`
const frames = ({ id }: ClientChannel) => `types.${pascalCase(id)}Sends, types.${pascalCase(id)}Receives`

function emitRow(channel: ClientChannel): string {
  const items = [literal(channel.address), literal(channel.subprotocol), '_CLOSES']
  return brackets(`${rowName(channel)}: Channel[${frames(channel)}] = Channel(`, items, ')', '')
}

function emitClient({ name, channels }: Surface, prefix: '' | 'Async'): string {
  const doc = prefix === '' ? 'The sockets' : 'The async sockets'
  const head = `class ${prefix}${pascalCase(name)}(${prefix}SocketClient):\n    """${doc} of the surface \`${name}\`."""\n\n`
  return head + channels.map((channel) => emitMethod(channel, prefix)).join('\n')
}

function emitMethod(channel: ClientChannel, prefix: string): string {
  const { id, title, parameters, query } = channel
  const named = query.map(({ name, values }) => {
    const type = values.length === 0 ? 'str' : `Literal[${values.map(literal).join(', ')}]`
    return `${pythonName(name)}: ${type} | None = None`
  })
  const given = [
    'self',
    ...parameters.map((name) => `${pythonName(name)}: str`),
    ...(named.length > 0 ? ['*', ...named] : []),
  ]
  const dict = (names: readonly string[]) =>
    `{${names.map((each) => `${literal(each)}: ${pythonName(each)}`).join(', ')}}`
  const call = [
    rowName(channel),
    ...(parameters.length > 0 ? [`path=${dict(parameters)}`] : []),
    ...(query.length > 0 ? [`query=${dict(query.map(({ name }) => name))}`] : []),
  ]
  return (
    brackets(`def ${pythonName(id)}(`, given, `) -> ${prefix}Socket[${frames(channel)}]:`, '    ') +
    docstring(`${title}.`, '        ') +
    brackets('return self._socket(', call, ')', '        ')
  )
}

const modules: Modules = [
  ['typing', ['Literal']],
  ['.engine.channels', ['Channel', 'CloseTable']],
  ['.engine.sockets', ['AsyncSocket', 'AsyncSocketClient', 'Socket', 'SocketClient']],
]
