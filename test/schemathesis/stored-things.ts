/**
 * Stores an agent, calls and more before random requests come, because no random request guesses an id. Returns the
 * ids by path.
 */
import { call } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'

/** The ids by path, for its last parameter. The paths in the contract begin with it. */
export type StoredIds = Record<string, string[]>

type Row = { id: string }

const agent = {
  name: 'Bicycle shop',
  systemPrompt: 'Q: Are you also open on Saturday?\nA: On Saturday we are open until noon.',
  firstMessage: 'Hello, this is the bicycle shop.',
  intent: { language: 'en-US' },
  llmOptions: { model: 'local:scripted' },
}
const tool = { name: 'hang_up', description: 'Ends the call.', source: { kind: 'builtin', name: 'end_call' } }
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

export async function storeThings(target: Target, receiverUrl: string): Promise<StoredIds> {
  const made = async <T = Row>(path: string, body?: object): Promise<T> => asked<T>(target, 'POST', path, body)
  const agentId = (await made('/v1/agents', agent)).id
  const { id: toolId } = await made(`/v1/agents/${agentId}/tools`, tool)
  const webhook = await made('/v1/webhooks', {
    name: 'calls',
    url: receiverUrl,
    events: ['call.status', 'call.report'],
  })
  const trunkId = (await made('/v1/phone-numbers/sip-connections', trunk)).id
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
  const transfer = await made(`/v1/calls/${handedOver}/transfers/warm`, {
    destinations: [{ to: undecided }],
    screeningPrompt: 'A customer wants to talk to the workshop.',
  })
  return {
    '/v1/agents/{id}': [agentId],
    '/v1/agents/{id}/tools/{toolId}': [toolId],
    '/v1/rmsg/{agentId}': [agentId],
    '/v1/webhooks/{id}': [webhook.id],
    '/v1/phone-numbers/sip-connections/{id}': [trunkId],
    '/v1/phone-numbers/{id}': numbers.map(({ id }) => id),
    '/v1/sms/10dlc/numbers/{phoneNumberId}': numbers.map(({ id }) => id),
    '/v1/sessions/{id}': [sessionId, ...calls],
    '/v1/calls/{id}': calls,
    '/v1/calls/{id}/transfers/{transferId}': [transfer.id],
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

async function asked<T>(target: Target, method: string, path: string, body?: object): Promise<T> {
  const answer = await call(target, method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.json<T>()
}
