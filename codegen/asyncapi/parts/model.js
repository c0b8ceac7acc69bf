/** What the parts know of a channel: plain values read once from the parser's model. */

export function readChannel(asyncapi, channel) {
  const own = asyncapi
    .operations()
    .all()
    .filter((operation) =>
      operation
        .channels()
        .all()
        .some((used) => used.id() === channel.id()),
    )
  const messages = (isWanted) =>
    own.filter(isWanted).flatMap((operation) => operation.messages().all().map(readMessage))
  const receives = messages((operation) => operation.isReceive())
  const sends = messages((operation) => operation.isSend())
  return {
    id: channel.id(),
    type: pascal(channel.id()),
    title: channel.title(),
    address: channel.address(),
    parameters: [...channel.address().matchAll(/\{(\w+)\}/g)].map((match) => match[1]),
    scope: extension(channel, 'x-scope'),
    subprotocol: extension(channel, 'x-subprotocol'),
    requiresSubprotocol: extension(channel, 'x-subprotocol-required'),
    credentialPrefix: extension(channel, 'x-credential-prefix'),
    query: closedQuery(channel),
    receives: receives.filter((message) => !message.isBinary),
    sends: sends.filter((message) => !message.isBinary),
    acceptsBinary: receives.some((message) => message.isBinary),
  }
}

function readMessage(message) {
  return {
    type: message.name(),
    on: `on${pascal(message.name())}`,
    isBinary: message.contentType() === 'application/octet-stream',
    // The component that the payload referred to: the parser has followed the reference and kept its name.
    component: message.payload().id(),
  }
}

/** The parameters that have a list of values, with it. */
function closedQuery(channel) {
  const { properties = {} } = channel.bindings().get('ws')?.value().query ?? {}
  return Object.entries(properties).flatMap(([name, schema]) => (schema.enum ? [[name, schema.enum]] : []))
}

function extension(model, name) {
  return model.extensions().get(name)?.value()
}

export function frameComponents(channels) {
  const components = channels.flatMap(({ receives, sends }) => [...receives, ...sends].map((frame) => frame.component))
  return [...new Set(components)].sort()
}

/** input_audio_buffer.append → InputAudioBufferAppend */
export function pascal(name) {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
