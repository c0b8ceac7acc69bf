/** Emits the client of an API with sockets. */
import { frameNames } from '../../clients/interfaces.ts'
import { brackets } from '../../clients/layout.ts'
import type { ClientChannel } from '../../clients/model.ts'
import { pascalCase } from '../../clients/names.ts'
import { lastArguments } from './arguments.ts'
import { argument, methodName } from './names.ts'
import { emitClient } from './operations.ts'
import { csharpFile, documentation } from './print.ts'
import type { CsharpSurface } from './surface.ts'

const indent = '    '

export function emitSockets(csharp: CsharpSurface): string {
  const { name, file, channels } = csharp.surface
  const body = emitClient(
    `Opens the sockets of the surface ${name}.`,
    'SocketSurface',
    channels.map(emitChannel),
    csharp,
  )
  return csharpFile('sockets', file, pascalCase(name), body)
}

function emitChannel({ id, title, address, parameters, query, subprotocol }: ClientChannel): string {
  const types = frameNames(id)
    .map((name) => `I${pascalCase(name)}`)
    .join(', ')
  const path = parameters.map(argument)
  const named = query.map((each) => ({ ...each, argument: argument(each.name) }))
  const inputs = [...path.map((name) => `string ${name}`), ...named.map((each) => `string? ${each.argument} = null`)]
  const texts = named.map(
    (each) =>
      [
        each.argument,
        each.values
          .map((value) => `\`${value}\``)
          .join(' or ')
          .replace(/$/, '.'),
      ] as const,
  )
  const queries = named.map((each) => `.Query(${JSON.stringify(each.name)}, ${each.argument})`).join('')
  const request = `Request(${['"GET"', JSON.stringify(address), ...path].join(', ')})${queries}`
  const head = `public Task<Socket<${types}>> ${methodName(id)}(`
  const call = `OpenSocket<${types}>(\n${indent}        ${request}, "${subprotocol ?? ''}", ${lastArguments.names.join(', ')});\n`
  return (
    documentation(`${title}: \`${address}\`.`, texts, indent) +
    brackets(head, [...inputs, ...lastArguments.declared], ') =>', indent) +
    `${indent}    ${call}`
  )
}
