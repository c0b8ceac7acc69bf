/** The APIs in the memory bench: one request to each API, or a few requests without lasting rows. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Pool } from 'undici'
import { webhookPath } from '../test/phone/outside-carrier.ts'
import { eventOf, type OwnCarrier } from '../test/process/own-carrier.ts'
import type { Target } from '../test/router/requests.ts'
import { providerBody, routerBody } from './gateway.ts'
import { readySocket } from './isolation/requests.ts'

export type Surfaced = { target: Target; pool: Pool; carrier: OwnCarrier }
export type Surface = {
  name: string
  /** The number of requests in `send`. */
  requests: number
  send(server: Surfaced): Promise<unknown>
}

export const surfaces: readonly Surface[] = [
  {
    name: 'router',
    requests: 1,
    send: (server) => post(server, '/router/v1/llm/responses', routerBody(false), { 'idempotency-key': randomUUID() }),
  },
  {
    name: 'compat',
    requests: 1,
    send: (server) => post(server, '/v1/chat/completions', providerBody(false, 'mock:mock')),
  },
  { name: 'platform', requests: 3, send: agent },
  { name: 'carrier webhooks', requests: 1, send: carrierEvent },
  { name: 'realtime sockets', requests: 1, send: socket },
]

/** Two agents may not have the same name. */
const agentBody = () =>
  JSON.stringify({ name: `Desk ${randomUUID()}`, systemPrompt: 'Answer.', intent: { language: 'en' } })

/** Deletes each agent again, because an organization's agents are limited (limits.agentsMax). */
async function agent(server: Surfaced): Promise<void> {
  const { id } = JSON.parse(await post(server, '/v1/agents', agentBody(), {}, 201)) as { id: string }
  await request(server, 'GET', `/v1/agents/${id}`, 200)
  await request(server, 'DELETE', `/v1/agents/${id}`, 200)
}

/** Each event names a new leg, unknown to the server. */
function carrierEvent(server: Surfaced): Promise<string> {
  const leg = { carrierLegId: `v3:${randomUUID()}`, clientState: '', streamPath: '', isAlive: false }
  const body = eventOf(leg, 'call.hangup', { hangup_cause: 'normal_clearing' })
  return post(server, webhookPath, body, server.carrier.signed(body))
}

async function socket({ target }: Surfaced): Promise<void> {
  const socket = await readySocket(target)
  socket.close()
  await once(socket, 'close')
}

function post(server: Surfaced, path: string, body: string, headers = {}, status = 200): Promise<string> {
  return request(server, 'POST', path, status, { body, headers: { 'content-type': 'application/json', ...headers } })
}

async function request(
  { target, pool }: Surfaced,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  status: number,
  { body, headers = {} }: { body?: string; headers?: Record<string, string> } = {},
): Promise<string> {
  const keyed = { authorization: `Bearer ${target.key}`, ...headers }
  const answer = await pool.request({ method, path, headers: keyed, body: body ?? null })
  const text = await answer.body.text()
  if (answer.statusCode !== status) throw new Error(`${path} was answered ${answer.statusCode}: ${text.slice(0, 300)}`)
  return text
}
