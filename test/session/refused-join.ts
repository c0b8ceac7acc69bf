import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import type { Started } from './voice-session.ts'

/** Returns the status and the error code with which the upgrade to a session's media channel is refused. */
export async function refusalOf({ transportUrl, transportToken }: Started): Promise<unknown[]> {
  const [, response] = (await once(
    new WebSocket(transportUrl, ['service.session.v1', `service.ephemeral.${transportToken}`]),
    'unexpected-response',
  )) as [unknown, IncomingMessage]
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return [response.statusCode, (JSON.parse(text) as { code: string }).code]
}
