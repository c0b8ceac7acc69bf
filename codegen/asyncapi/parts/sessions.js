import { Text } from '@asyncapi/generator-react-sdk'

/** The parameters of the address, where it has some. */
function path(parameters) {
  if (parameters.length === 0) return ''
  return ` & { path: { ${parameters.map((name) => `${name}: string`).join('; ')} } }`
}

/** What a session of the channel must take, and what may be sent on it. */
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
      {`/** One function a channel, called when its socket has opened. */
export type ${surface}Handlers<Caller> = {
${rows.join('')}}

/**
 * The engine calls the methods of a session by name, with frames that the validators have passed, and hands every handler what the
 * auth hook answered. The compiler sees neither; so the widening stands here, once.
 */
export function widen${surface}Handlers<Caller>(handlers: ${surface}Handlers<Caller>): SocketHandlers {
  return handlers as unknown as SocketHandlers
}`}
    </Text>
  )
}
