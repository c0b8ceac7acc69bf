/** If a number is imported with a test API key, its SIP trunk is simulated. */
import t, { type Test } from 'tap'
import { call, openAdministration } from '../platform/setup.ts'
import { hasEnded } from './call-rows.ts'
import { callWhen, eventsWithType, type InTime, newestInbound, startPhones } from './phones.ts'

const server = await startPhones()
t.teardown(() => server.close())
const admin = await openAdministration(server.server)
t.teardown(() => admin.close())

/**
 * Makes an organization whose agent has a number on a trunk. Returns the server's URL with the organization's test key.
 */
async function trunkOf(t: Test, name: string, e164: string) {
  const { id: organizationId } = await admin.organization(name)
  const target = { ...(await admin.key(organizationId, { test: true })), clock: server.clock }
  const made = async (path: string, body: object) => {
    const answer = await call(target, 'POST', path, body)
    t.equal(answer.status, 201, answer.text)
    return answer.json<{ id: string }>().id
  }
  const agent = { name: 'Shop', systemPrompt: 'You sell bicycles.', intent: { language: 'en-US' } }
  const agentId = await made('/v1/agents', {
    ...agent,
    llmOptions: { model: 'local:scripted' },
    firstMessage: 'Hello.',
  })
  const connectionId = await made('/v1/phone-numbers/sip-connections', {
    name: 'Trunk',
    outbound: { host: '127.0.0.1', port: 5060 },
    inbound: { allowedAddresses: ['127.0.0.1/32'] },
  })
  const number = { e164, sipConnectionInstallationId: connectionId, agentId, direction: 'both' }
  await made('/v1/phone-numbers/import', number)
  return { target, organizationId, agentId, e164 }
}

async function statusOf(target: InTime): Promise<string | undefined> {
  const list = await call(target, 'GET', '/v1/phone-numbers/sip-connections')
  return list.json<{ status: string }[]>()[0]?.status
}

async function calledFrom(from: string, { target, organizationId, e164 }: Awaited<ReturnType<typeof trunkOf>>) {
  const asked = { from, to: e164, organizationId }
  const answer = await call(target, 'POST', '/simulator/calls', asked)
  if (answer.status !== 201) throw new Error(answer.text)
  const id = await newestInbound(target)
  await callWhen(target, id, ({ status }) => status === 'in_progress')
  return id
}

t.test('if the simulated remote party of a trunk refuses REFER, the caller stays with the agent', async (t) => {
  const trunk = await trunkOf(t, 'refuses', '+15005550141')
  const { target } = trunk
  t.equal(await statusOf(target), 'unverified')
  const id = await calledFrom('+15005550013', trunk)
  t.equal(await statusOf(target), 'ready', 'the first call has come over it')
  const asked = await call(target, 'POST', `/v1/calls/${id}/transfers/blind`, { to: '+15005550006' })
  const error = /^The far end .* does not take blind transfers \(REFER\)\. Use a warm transfer, which needs no REFER\.$/
  t.match([asked.status, asked.json()], [502, { code: 'CARRIER_DIAL_FAILED', error }])
  const failed = (await eventsWithType(target, id, 'transfer.failed')).find((e) => e.event_type === 'transfer.failed')
  t.match(failed, { failure_cause: 'declined' })
  const row = await callWhen(target, id, ({ status }) => status === 'in_progress')
  t.match(row['transfers'], [{ kind: 'blind', status: 'failed', failure_cause: 'declined' }])
  await call(target, 'POST', `/v1/calls/${id}/end`, {})
  await callWhen(target, id, hasEnded)
})

t.test('if the simulated remote party of a trunk accepts REFER, the recipient is called', async (t) => {
  const trunk = await trunkOf(t, 'transfers', '+15005550142')
  const id = await calledFrom('+15005550011', trunk)
  const asked = await call(trunk.target, 'POST', `/v1/calls/${id}/transfers/blind`, { to: '+15005550020' })
  t.equal(asked.status, 201, asked.text)
  t.match(await callWhen(trunk.target, id, hasEnded), { status: 'completed', end_reason: 'transferred' })
})

t.test('an outbound call over a simulated trunk marks the SIP connection as ready', async (t) => {
  const { target, agentId, e164: from } = await trunkOf(t, 'calls', '+15005550143')
  const dialed = await call(target, 'POST', '/v1/sessions/phone', { to: '+15005550003', from, agentId })
  t.equal(dialed.status, 200, dialed.text)
  t.equal(await statusOf(target), 'ready')
})
