/** Compares responses about agents and their tools with the contract's examples. */
import type { Test } from 'tap'
import type { Administration } from '../platform/setup.ts'
import { type Answer, startReceiver } from '../webhooks/receiver.ts'
import { type Examples, idOf, type Received, type Sent } from './run.ts'

export async function compareAgents(t: Test, examples: Examples, administration: Administration) {
  const acme = await administration.organization('with agents')
  const send = (sent: Sent) => examples.send(acme, sent)
  const equal = (received: Received, ...names: string[]) => {
    for (const example of names) examples.compare(t, received, { example })
  }
  equal(await send({ operation: 'listAgents' }), 'listAgents 200: none')
  const least = await send({ operation: 'createAgent', request: 'least' })
  equal(least, 'createAgent 201: least')
  const values = { id: idOf(least) }
  equal(await send({ operation: 'deleteAgent', values }), 'deleteAgent 200: deleted')
  const receptionist = await send({ operation: 'createAgent', request: 'receptionist' })
  equal(receptionist, 'createAgent 201: receptionist')
  values.id = idOf(receptionist)
  equal(await send({ operation: 'getAgent', values }), 'getAgent 200: receptionist')
  equal(await send({ operation: 'listAgents' }), 'listAgents 200: one')
  equal(await send({ operation: 'updateAgent', request: 'change', values }), 'updateAgent 200: change')
  equal(await send({ operation: 'updateAgent', request: 'nothing', values }), 'updateAgent 200: change')

  for (const request of ['builtin', 'inline']) {
    const tool = await send({ operation: 'createAgentTool', request, values })
    equal(tool, `createAgentTool 201: ${request}`)
    const removed = await send({ operation: 'deleteAgentTool', values: { ...values, toolId: idOf(tool) } })
    equal(removed, 'deleteAgentTool 200: deleted')
  }
  const webhook = await send({ operation: 'createAgentTool', request: 'webhook', values })
  equal(webhook, 'createAgentTool 201: webhook')
  const ofTool = { ...values, toolId: idOf(webhook) }
  equal(await send({ operation: 'listAgentTools', values }), 'listAgentTools 200: one')
  equal(await send({ operation: 'getAgentTool', values: ofTool }), 'getAgentTool 200: webhook')
  equal(await send({ operation: 'updateAgentTool', request: 'later', values: ofTool }), 'updateAgentTool 200: later')

  const again = { operation: 'createAgentTool', request: 'webhook', values }
  equal(await send({ operation: 'createAgent', request: 'receptionist' }), 'Conflict: agent_name')
  equal(await send(again), 'Conflict: tool_name')
  for (let tools = 1; tools < 64; tools++) await send({ ...again, fields: { name: `tool_${tools}` } })
  equal(await send({ ...again, fields: { name: 'one_more' } }), 'Conflict: limit')
  const broken = { name: 'Broken', systemPrompt: 'You work for {{ shop.' }
  equal(await send({ operation: 'createAgent', request: 'least', fields: broken }), 'BadRequest: rule')
  equal(await send({ operation: 'getAgent' }), 'NotFound: agent')
}

/** The request body that testAgentTool sends to a tool in the contract's examples. */
const testedBody = (agentId: string, id: string) =>
  JSON.stringify({
    tool: 'find_order',
    args: { number: '1042' },
    ...{ session_id: null, call_id: null, agent_id: agentId, tool_call_id: id, idempotency_key: id },
    ...{ metadata: {}, test: true },
  })

export async function compareToolTests(t: Test, examples: Examples, administration: Administration) {
  const acme = await administration.organization('with a tool to try')
  const answer: Answer = (response, _received, count) =>
    count === 1 ? response.end('{"status":"ready"}') : response.writeHead(500).end('The stock is not reachable.')
  const receiver = await startReceiver(answer)
  t.teardown(() => receiver.close())
  const id = idOf(await examples.send(acme, { operation: 'createAgent', request: 'least' }))
  const authHeaders = [{ name: 'authorization', value: 'Bearer 3f9c1a7be2' }]
  const fields = { source: { kind: 'webhook', url: receiver.url, authHeaders } }
  const tool = await examples.send(acme, { operation: 'createAgentTool', request: 'webhook', values: { id }, fields })
  for (const example of ['answered', 'failed']) {
    const values = { id, toolId: idOf(tool) }
    const tried = await examples.send(acme, { operation: 'testAgentTool', request: 'order', values })
    const { body, headers } = (JSON.parse(tried.body.toString()) as { request: { body: string; headers: Headers } })
      .request
    const shown = { agent: 'agent_7Hq2mXb0cVtR5sYp1LwEk9', id: 'test:019aaaf7-6690-7a41-9c05-3e8d2b6f7a10' }
    const renamed = {
      [JSON.stringify(body)]: JSON.stringify(testedBody(shown.agent, shown.id)),
      [receiver.url]: 'https://shop.example/tools/orders',
      [headers['webhook-id'] ?? '']: shown.id,
      [headers['webhook-timestamp'] ?? '']: '1795276800',
      [headers['webhook-signature'] ?? '']: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    }
    examples.compare(t, tried, { example: `testAgentTool 200: ${example}`, renamed })
  }
}
type Headers = Record<string, string>

export async function compareAgentVersions(t: Test, examples: Examples, administration: Administration) {
  const acme = await administration.organization('with versions')
  const made = await examples.send(acme, { operation: 'createAgent', request: 'least' })
  const values = { id: idOf(made), version: '1' }
  const compare = async (example: string, sent: Sent) =>
    examples.compare(t, await examples.send(acme, { values, ...sent }), { example, renamed: { 'of a test': 'shop' } })
  const change = (firstMessage: string) => ({ operation: 'updateAgent', values, fields: { firstMessage } })
  await examples.send(acme, { ...change('Hello.'), request: 'nothing' })
  await compare('listAgentVersions 200: two', { operation: 'listAgentVersions' })
  await compare('getAgentVersion 200: first', { operation: 'getAgentVersion' })
  await compare('restoreAgentVersion 200: restored', { operation: 'restoreAgentVersion' })
  await examples.send(acme, { ...change('Good day.'), request: 'nothing' })
  const late = { ...change('Welcome.'), request: 'nothing', headers: { 'if-match': '"3"' } }
  await compare('PreconditionFailed: version', late)
}
