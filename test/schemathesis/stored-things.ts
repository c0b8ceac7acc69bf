/** Stores an agent, calls and more before random requests come, because no random request guesses an id. */
import { call } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'

export type StoredThings = {
  /** The ids by path. They are values for the path's last parameter, also in longer paths with the same beginning. */
  ids: Record<string, string[]>
  /** No request may change or end the things with these ids, because other requests need the things. */
  kept: string[]
  /** The cookies by path. The longest path that begins an operation's path counts. */
  cookies: Record<string, string>
}

type Row = { id: string }

const agent = {
  name: 'Bicycle shop',
  systemPrompt: 'Q: Are you also open on Saturday?\nA: On Saturday we are open until noon.',
  firstMessage: 'Hello, this is the bicycle shop.',
  intent: { language: 'en-US' },
  llmOptions: { model: 'local:scripted' },
}
const builtin = { name: 'hang_up', description: 'Ends the call.', source: { kind: 'builtin', name: 'end_call' } }
const webhookTool = (url: string) => ({
  name: 'find_order',
  description: 'Finds an order by its number.',
  source: { kind: 'webhook', url, authHeaders: [{ name: 'authorization', value: 'Bearer 3f9c1a7be2' }] },
})
const trunk = {
  name: 'Head office',
  provider: 'Example Telecom',
  outbound: { host: '127.0.0.1', username: 'parley', password: 'correct-horse-battery' },
}
/**
 * The first simulated person says nothing, so the call goes on. The second person does not say whether to accept a
 * transferred call.
 */
const [silent, undecided] = ['+15005550011', '+15005550019']

export async function storeThings(target: Target, receiverUrl: string): Promise<Pick<StoredThings, 'ids' | 'kept'>> {
  const made = async <T = Row>(path: string, body?: object): Promise<T> => asked<T>(target, 'POST', path, body)
  const agentId = (await made('/v1/agents', agent)).id
  const tools = [
    await made(`/v1/agents/${agentId}/tools`, builtin),
    await made(`/v1/agents/${agentId}/tools`, webhookTool(receiverUrl)),
  ]
  const webhook = { url: receiverUrl, events: ['call.status', 'call.report'] }
  const webhookId = (await made('/v1/webhooks', { ...webhook, name: 'calls' })).id
  // A deleted or disabled webhook gets no second delivery, so this webhook is kept.
  const keptWebhookId = (await made('/v1/webhooks', { ...webhook, name: 'kept' })).id
  const trunkId = (await made('/v1/phone-numbers/sip-connections', trunk)).id
  const keptTrunkId = (await made('/v1/phone-numbers/sip-connections', { ...trunk, name: 'Branch office' })).id
  const numbers = await asked<Row[]>(target, 'GET', '/v1/phone-numbers')
  await asked(target, 'PATCH', `/v1/phone-numbers/${numbers[0]?.id}`, { agentId })
  const { sessionId } = await made<{ sessionId: string }>('/v1/sessions', { agentId })
  const calls = [
    await answeredCall(target, agentId),
    await answeredCall(target, agentId),
    await answeredCall(target, agentId),
  ]
  const [ended, handedOver] = calls
  await made(`/v1/calls/${ended}/end`)
  const deliveries = await storedDeliveries(target, keptWebhookId)
  const transfer = await made(`/v1/calls/${handedOver}/transfers/warm`, {
    destinations: [{ to: undecided }],
    screeningPrompt: 'A customer wants to talk to the workshop.',
  })
  return {
    ids: {
      '/v1/agents/{id}': [agentId],
      '/v1/agents/{id}/tools/{toolId}': tools.map(({ id }) => id),
      '/v1/agents/{id}/versions/{version}': ['1', '2'],
      '/v1/rmsg/{agentId}': [agentId],
      '/v1/providers/{provider}/check': ['stub'],
      '/v1/webhooks/{id}': [webhookId, keptWebhookId],
      '/v1/webhook-deliveries/{id}': deliveries,
      '/v1/phone-numbers/sip-connections/{id}': [trunkId, keptTrunkId],
      '/v1/phone-numbers/{id}': numbers.map(({ id }) => id),
      '/v1/sms/10dlc/numbers/{phoneNumberId}': numbers.map(({ id }) => id),
      '/v1/sessions/{id}': [sessionId, ...calls],
      '/v1/calls/{id}': calls,
      '/v1/calls/{id}/transfers/{transferId}': [transfer.id],
      '/console/assets/{file}': await consoleFiles(target),
    },
    kept: [keptWebhookId, keptTrunkId],
  }
}

async function answeredCall(target: Target, agentId: string): Promise<string> {
  const { sessionId } = await asked<{ sessionId: string }>(target, 'POST', '/v1/sessions/phone', {
    to: silent,
    agentId,
  })
  await until('the call is answered', async () => {
    const { status } = await asked<{ status: string }>(target, 'GET', `/v1/calls/${sessionId}`)
    return status === 'in_progress'
  })
  return sessionId
}

/** Waits for deliveries to the webhook. */
async function storedDeliveries(target: Target, endpointId: string): Promise<string[]> {
  let ids: string[] = []
  await until('a delivery is stored', async () => {
    const { data } = await asked<{ data: Row[] }>(target, 'GET', `/v1/webhook-deliveries?endpointId=${endpointId}`)
    ids = data.map(({ id }) => id)
    return ids.length > 0
  })
  return ids
}

/** Returns the names of the console's files. Unbuilt sources have no console. */
async function consoleFiles({ url }: Target): Promise<string[]> {
  const page = await (await fetch(`${url}/console`)).text()
  return [...page.matchAll(/assets\/([\w.-]+)/g)].map(([, file = '']) => file)
}

export async function asked<T>(target: Target, method: string, path: string, body?: object): Promise<T> {
  const answer = await call(target, method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.json<T>()
}
