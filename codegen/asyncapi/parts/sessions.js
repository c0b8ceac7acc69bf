import { Text } from '@asyncapi/generator-react-sdk'

/** Prints the address's parameters, or '' if there are no parameters. */
function path(parameters) {
  if (parameters.length === 0) return ''
  return ` & { path: { ${parameters.map((name) => `${name}: string`).join('; ')} } }`
}

/** Prints the channel's session methods and its outgoing frames. */
export function Session({ channel }) {
  const { type, title, receives, sends } = channel
  return (
    <Text newLines={2}>
      {`/** ${title} */
export type ${type}Session = SocketSession & {
${receives.map(({ on, component }) => `  ${on}(frame: ${component}): void\n`).join('')}}

export type ${type}Sends =
${sends.map(({ component }) => `  | ${component}`).join('\n')}`}
    </Text>
  )
}

export function Handlers({ surface, channels }) {
  const rows = channels.map(
    ({ id, type, address, parameters }) =>
      `  /** ${address} */\n  ${id}(socket: Socket, context: SocketContext<Caller>${path(parameters)}): ${type}Session\n`,
  )
  return (
    <Text>
      {`/** Each channel is one function, called when a socket has opened. */
export type ${surface}Handlers<Caller> = {
${rows.join('')}}

/**
 * The engine calls the methods of a session by name with frames that the validators have passed, and hands every
 * handler the caller from the auth hook. The compiler cannot know either, so this is the one place that widens the
 * types.
 */
export function widen${surface}Handlers<Caller>(handlers: ${surface}Handlers<Caller>): SocketHandlers {
  return handlers as unknown as SocketHandlers
}`}
    </Text>
  )
}
