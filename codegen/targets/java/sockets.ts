/** Emits the client of an API with sockets. */
import { frameNames } from '../../clients/interfaces.ts'
import type { ClientChannel } from '../../clients/model.ts'
import { pascalCase } from '../../clients/names.ts'
import { variable } from './names.ts'
import { emitContract } from './operations.ts'
import { javadoc, javaFile, method, root } from './print.ts'
import type { JavaSurface } from './surface.ts'

const indent = '    '

export function emitSockets(java: JavaSurface): string {
  const { name, file, channels } = java.surface
  const className = pascalCase(name)
  const body = `/** Opens the sockets of the surface ${name}. */
public final class ${className} extends SocketSurface {
${emitContract(java)}
    /** Makes a client with the settings of a connection. */
    public ${className}(ParleyClient client) { super(client, CONTRACT); }

${channels.map(emitChannel).join('\n')}}
`
  return javaFile('sockets', file, `${root}.${name}`, `import ${root}.${name}.Schemas.*;\n`, body)
}

function emitChannel({ id, title, address, parameters, query, subprotocol }: ClientChannel): string {
  const name = variable(id)
  const [sent, received] = frameNames(id).map(pascalCase) as [string, string]
  const path = parameters.map(variable)
  const named = query.map((each) => ({ ...each, variable: variable(each.name) }))
  const inputs = [...path, ...named.map((each) => each.variable)]
  const declared = inputs.map((input) => `String ${input}`).join(', ')
  const queries = named.map((each) => `.query(${JSON.stringify(each.name)}, ${each.variable})`).join('')
  const request = `request(${['"GET"', JSON.stringify(address), ...path].join(', ')})${queries}`
  const values = named.map(
    (each) => `@param ${each.variable} ${each.values.map((value) => `\`${value}\``).join(' or ')}, or null`,
  )
  const socket = `Socket<${sent}, ${received}>`
  const call = `return open(${request}, ${JSON.stringify(subprotocol ?? '')}, ${received}.class);`
  const doc = javadoc(`${title}: \`${address}\`.`, values, indent)
  return doc + method(`public ApiCall<${socket}> ${name}(${declared})`, call, indent)
}
