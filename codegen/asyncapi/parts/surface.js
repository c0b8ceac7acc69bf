import { Text } from '@asyncapi/generator-react-sdk'

/** One row a channel; names of validators are those that codegen/emit-frames.ts gives them. */
export function Surface({ name, channels }) {
  return (
    <Text newLines={2}>
      {`export const ${name}Surface: SocketSurface = {
  name: '${name}',
  channels: [
${channels.map(row).join('')}  ],
}`}
    </Text>
  )
}

function row(channel) {
  return `    {
      id: '${channel.id}',
      address: '${channel.address}',
${parameters(channel.parameters)}      scope: '${channel.scope}',
      subprotocol: '${channel.subprotocol}',
      requiresSubprotocol: ${channel.requiresSubprotocol},
      credentialPrefix: '${channel.credentialPrefix}',
${query(channel.query)}      receives: {
${channel.receives.map(({ type, on, component }) => `        ${key(type)}: { on: '${on}', validate: validators.receive${component} },\n`).join('')}      },
      acceptsBinary: ${channel.acceptsBinary},
      sends: {
${channel.sends.map(({ type, component }) => `        ${key(type)}: validators.send${component},\n`).join('')}      },
    },
`
}

function parameters(names) {
  return names.length === 0 ? '' : `      parameters: [${names.map((name) => `'${name}'`).join(', ')}],\n`
}

function query(parameters) {
  if (parameters.length === 0) return ''
  const rows = parameters.map(([name, values]) => `${key(name)}: [${values.map((value) => `'${value}'`).join(', ')}]`)
  return `      query: { ${rows.join(', ')} },\n`
}

function key(type) {
  return /^\w+$/.test(type) ? type : `'${type}'`
}
