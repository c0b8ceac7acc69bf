import { Text } from '@asyncapi/generator-react-sdk'

/** Prints one row for each channel. */
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
      role: '${channel.role}',
      subprotocol: '${channel.subprotocol}',
      requiresSubprotocol: ${channel.requiresSubprotocol},
      credentialPrefix: '${channel.credentialPrefix}',
${query(channel.query)}      receives: {
${channel.receives.map(({ type, on, validator }) => `        ${key(type)}: { on: '${on}', validate: validators.${validator} },\n`).join('')}      },
      acceptsBinary: ${channel.acceptsBinary},
${frameType(channel.frameType)}    },
`
}

function parameters(names) {
  return names.length === 0 ? '' : `      parameters: [${names.map((name) => `'${name}'`).join(', ')}],\n`
}

function query(parameters) {
  if (parameters.length === 0) return ''
  const rows = parameters.map(({ name, values }) => `${key(name)}: [${values.map((value) => `'${value}'`).join(', ')}]`)
  return `      query: { ${rows.join(', ')} },\n`
}

function frameType(name) {
  return name === 'type' ? '' : `      frameType: '${name}',\n`
}

function key(type) {
  return /^\w+$/.test(type) ? type : `'${type}'`
}
