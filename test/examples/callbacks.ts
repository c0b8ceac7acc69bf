/** Stores scheduled callbacks, and compares the responses about them with the contract's examples. */
import type { Test } from 'tap'
import { callbackOf, hourMs, promised } from '../callbacks/callback.ts'
import { newCall, pipeline } from '../calls/call.ts'
import type { Administration } from '../platform/setup.ts'
import { type Examples, idOf, type Sent } from './run.ts'

export async function compareCallbacks(t: Test, examples: Examples, administration: Administration) {
  const acme = await administration.organization('with callbacks')
  const { calls } = administration.store
  const agent = idOf(await examples.send(acme, { operation: 'createAgent', request: 'least' }))
  const source = { kind: 'builtin' as const, name: 'schedule_callback' as const, config: null }
  const tool = { name: 'schedule_callback', description: 'd', parameters: {}, source, preToolSpeech: 'auto' as const }
  const session = newCall(acme.id, { agentId: agent, pipeline: { ...pipeline, tools: [tool] } })
  await calls.insert(session, {})
  const callback = callbackOf(session, { nextTryAtMs: Date.now() + hourMs })
  await calls.append(session, session.id, [promised(callback)])
  const values = { id: callback.id }
  const compare = async (example: string, sent: Sent) =>
    examples.compare(t, await examples.send(acme, { values, ...sent }), { example })
  await compare('listCallbacks 200: one', { operation: 'listCallbacks' })
  await compare('listCallbacks 200: none', {
    operation: 'listCallbacks',
    parameters: ['status'],
    values: { status: 'failed' },
  })
  await compare('getCallback 200: scheduled', { operation: 'getCallback' })
  await compare('AgentConflict: callback', { operation: 'deleteAgent', values: { id: agent } })
  const other = newCall(acme.id)
  await calls.insert(other, {})
  const elsewhere = callbackOf(other, { nextTryAtMs: Date.now() + hourMs })
  await calls.append(other, other.id, [promised(elsewhere)])
  await compare('DialFailed: number', { operation: 'dispatchCallback', values: { id: elsewhere.id } })
  await compare('cancelCallback 200: cancelled', { operation: 'cancelCallback', request: 'reason' })
  await compare('CallbackConflict: cancelled', { operation: 'dispatchCallback' })
}
