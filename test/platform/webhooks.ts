/** Makes and changes webhook endpoints over the public API. */
import type { Answer, Target } from '../router/requests.ts'
import { call } from './setup.ts'

export type Webhook = { id: string; updatedAt: string; agentIds: string[] } & Record<string, unknown>

export const url = 'https://hooks.example/run?x=1'
export const least = { name: 'Reports', url, events: ['call.report'] }
export const create = (target: Target, more: object = {}): Promise<Answer> =>
  call(target, 'POST', '/v1/webhooks', { ...least, ...more })
export const change = (target: Target, { id }: { id: string }, body: object): Promise<Answer> =>
  call(target, 'PATCH', `/v1/webhooks/${id}`, body)
export const read = async (target: Target, { id }: { id: string }) =>
  (await call(target, 'GET', `/v1/webhooks/${id}`)).json<Webhook>()

export async function made(target: Target, more: object = {}): Promise<Webhook> {
  const answer = await create(target, more)
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.json<Webhook>()
}

export async function agentOf(target: Target, name = 'Agent'): Promise<string> {
  const body = { name, systemPrompt: 'Be brief.', intent: { language: 'en' } }
  return (await call(target, 'POST', '/v1/agents', body)).json<{ id: string }>().id
}

export const invalid = (...paths: string[]) => ({ status: 400, code: 'VALIDATION_ERROR', paths })
