/** A carrier simulated by the test: it receives a server's commands, and sends the test's events and audio streams. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { webhookPath } from '../phone/outside-carrier.ts'

/** One leg, as the server has dialled it. */
export type DialledLeg = {
  carrierLegId: string
  /** The dialled number. */
  to: string
  clientState: string
  /** The path and the query of the stream's URL, with its token. */
  streamPath: string
  /** The carrier's answer if the server asks whether the leg still exists. */
  isAlive: boolean
}

export type OwnCarrier = {
  apiKey: string
  baseUrl: string
  /** The key that verifies the carrier's events: 32 bytes in base64. */
  publicKey: string
  legs: DialledLeg[]
  /** Returns the headers for an event with this body. */
  signed: (body: string, timestampS?: number) => Record<string, string>
  /** Sends the hang-up event. From then on the carrier reports the leg as ended. */
  hangUp(leg: DialledLeg, url: string): Promise<void>
  close(): Promise<void>
}

export async function startOwnCarrier(): Promise<OwnCarrier> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const legs: DialledLeg[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ data: answerTo(request.method ?? '', request.url ?? '', body, legs) }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const signed = (body: string, timestampS = Math.floor(Date.now() / 1000)) => {
    const signature = sign(null, Buffer.from(`${timestampS}|${body}`), privateKey).toString('base64')
    return { 'telnyx-timestamp': String(timestampS), 'telnyx-signature-ed25519': signature }
  }
  return {
    apiKey: 'KEY_of_the_test',
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`,
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
    legs,
    signed,
    async hangUp(leg, url) {
      leg.isAlive = false
      const body = eventOf(leg, 'call.hangup', { hangup_cause: 'normal_clearing', hangup_source: 'callee' })
      const headers = { 'content-type': 'application/json', ...signed(body) }
      await (await fetch(url + webhookPath, { method: 'POST', headers, body })).text()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Returns the body for an event about this leg. */
export function eventOf(
  leg: Omit<DialledLeg, 'to'>,
  type: string,
  more: object = {},
  id: string = randomUUID(),
): string {
  const { carrierLegId, clientState } = leg
  const payload = { call_control_id: carrierLegId, client_state: clientState, ...more }
  return JSON.stringify({ data: { id, event_type: type, occurred_at: new Date().toISOString(), payload } })
}

/** Answers a command with success. */
function answerTo(method: string, path: string, body: string, legs: DialledLeg[]): object {
  if (path.includes('active_calls')) return []
  if (method === 'POST' && path === '/v2/calls') {
    const fields = JSON.parse(body) as { to: string; client_state: string; stream_url: string }
    const carrierLegId = `v3:${randomUUID()}`
    const { pathname, search } = new URL(fields.stream_url)
    const { to, client_state: clientState } = fields
    legs.push({ carrierLegId, to, clientState, streamPath: pathname + search, isAlive: true })
    return { call_control_id: carrierLegId, is_alive: true }
  }
  const asked = legs.find(({ carrierLegId }) => decodeURIComponent(path).includes(carrierLegId))
  return { is_alive: asked?.isAlive ?? false, result: 'ok' }
}
