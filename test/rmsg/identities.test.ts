/**
 * Tests which rich-message numbers the provider still has: both adapters against a stub, and the comparison with our
 * numbers.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { RichMessageError, type RichMessageProvider } from '../../domain/ports/rich-messages.ts'
import { type SmsRegistry, SmsRegistryError } from '../../domain/ports/sms-registry.ts'
import type { RmsgInventory, Seen } from '../../domain/rmsg/inventory.ts'
import type { RmsgNumber } from '../../domain/rmsg/numbers.ts'
import { smsStatusOf } from '../../domain/rmsg/sms-status.ts'
import { syncInventory } from '../../domain/rmsg/sync.ts'
import { createSimulatedMessages } from '../../providers/simulated/rich-messages.ts'
import { createTelnyxMessages } from '../../providers/telnyx/rich-messages.ts'
import { systemClock as clock } from '../../runtime/timing/clock.ts'

async function serve(t: Test) {
  const state = { status: 200, body: '{}', paths: [] as string[] }
  const server = createServer((request, response) => {
    state.paths.push(`${request.method} ${request.url}`)
    response.writeHead(state.status, { 'content-type': 'application/json' }).end(state.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  const shared = { baseUrl, apiKey: 'KEY', requestMs: 5000, clock }
  const webhookUrl = 'http://127.0.0.1/'
  const telnyx = createTelnyxMessages({ ...shared, messagingProfileId: 'profile', webhookUrl })
  const simulated = createSimulatedMessages({ ...shared, webhookUrl: () => webhookUrl })
  t.teardown(async () => {
    await Promise.all([telnyx.close(), simulated.close()])
    server.closeAllConnections()
    server.close()
  })
  return { state, telnyx, simulated }
}

t.test('a rich-message agent counts as existing at Telnyx only if the agent is enabled there', async (t) => {
  const { state, telnyx } = await serve(t)
  state.body = JSON.stringify({ data: { agent_id: 'agent 1', enabled: true } })
  t.equal(await telnyx.has('agent 1'), true)
  t.same(state.paths, ['GET /v2/messaging/rcs/agents/agent%201'])
  state.body = JSON.stringify({ data: { agent_id: 'agent 1', enabled: false } })
  t.equal(await telnyx.has('agent 1'), false)
})

t.test('an unknown rich-message agent is not found, but a provider that does not answer is an error', async (t) => {
  const { state, telnyx, simulated } = await serve(t)
  for (const provider of [telnyx, simulated]) {
    state.status = 404
    t.equal(await provider.has('nobody'), false)
    for (const status of [401, 429, 503]) {
      state.status = status
      await t.rejects(provider.has('somebody'), RichMessageError, `${status}`)
    }
  }
})

t.test('numbers keep their status if the provider or the registry does not answer', async (t) => {
  const number = (id: string, status: RmsgNumber['status']) =>
    ({ id, e164: id, status, providerIdentity: id, smsStatus: 'not_configured' }) as RmsgNumber
  const numbers = [
    number('there', 'active'),
    number('lost', 'paused'),
    number('back', 'unavailable'),
    number('silent', 'active'),
    number('registry silent', 'active'),
  ]
  const provider: Pick<RichMessageProvider, 'has'> = {
    has: (id) =>
      id === 'silent'
        ? Promise.reject(new RichMessageError({ status: 503, detail: null, mayBeSent: false }))
        : Promise.resolve(id !== 'lost'),
  }
  const registry: Pick<SmsRegistry, 'findAssignment'> = {
    findAssignment: (e164) =>
      e164 === 'registry silent'
        ? Promise.reject(new SmsRegistryError([]))
        : Promise.resolve(e164 === 'there' ? { campaignId: 'c', status: 'ASSIGNED', reviewErrors: [] } : null),
  }
  const seen: Record<string, Seen> = {}
  const inventory: Pick<RmsgInventory, 'list' | 'observe'> = {
    list: () => Promise.resolve([...numbers]),
    observe: ({ name }, one) => {
      seen[name] = one
      const before = numbers.find(({ id }) => id === name)!
      const status = one.isThere === null ? before.status : one.isThere ? 'active' : 'unavailable'
      return Promise.resolve({ ...before, status, smsStatus: one.smsStatus ?? before.smsStatus })
    },
  }
  const { changed, unknown } = await syncInventory({ inventory, provider, registry }, false)
  t.same(seen, {
    there: { isThere: true, smsStatus: 'ready' },
    lost: { isThere: false, smsStatus: 'not_configured' },
    back: { isThere: true, smsStatus: 'not_configured' },
    silent: { isThere: null, smsStatus: 'not_configured' },
    'registry silent': { isThere: true, smsStatus: null },
  })
  t.same(changed.map(({ id }) => id).sort(), ['back', 'lost', 'there'])
  t.equal(unknown, 2)
})

t.test('each assignment status maps to an SMS status of the number', (t) => {
  const rows = {
    PENDING_ASSIGNMENT: 'pending',
    ASSIGNED: 'ready',
    FAILED_ASSIGNMENT: 'failed',
    PENDING_UNASSIGNMENT: 'pending',
    FAILED_UNASSIGNMENT: 'failed',
  } as const
  for (const [status, ours] of Object.entries(rows))
    t.equal(smsStatusOf({ status: status as keyof typeof rows }), ours, status)
  t.equal(smsStatusOf(null), 'not_configured')
  t.end()
})
