/**
 * Starts a webhook receiver for a program in another process: `GET /hook/<event>` is answered once an event with this
 * type has come.
 */
import type { ServerResponse } from 'node:http'
import { type Received, type Receiver, startReceiver } from '../webhooks/receiver.ts'

export function startEventReceiver(): Promise<Receiver> {
  const come = new Set<string>()
  const waiting = new Map<string, ServerResponse[]>()
  return startReceiver((response, received) => {
    const wanted = /^\/hook\/(.+)$/.exec(received.path)?.[1]
    if (wanted !== undefined && !come.has(wanted)) {
      waiting.set(wanted, [...(waiting.get(wanted) ?? []), response])
      return
    }
    response.writeHead(204).end()
    if (wanted === undefined) note(typeOf(received))
  })

  function note(type: string): void {
    come.add(type)
    for (const response of waiting.get(type) ?? []) response.writeHead(204).end()
    waiting.delete(type)
  }
}

const typeOf = ({ body }: Received) => (JSON.parse(body.toString()) as { type: string }).type
