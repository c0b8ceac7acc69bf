/** Whether a number is at the provider still: both adapters against a stub, and the comparison of the inventory. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { RichMessageError, type RichMessageProvider } from '../../domain/ports/rich-messages.ts'
import type { RmsgNumber } from '../../domain/rmsg/numbers.ts'
import { syncInventory } from '../../domain/rmsg/sync.ts'
import { createSimulatedMessages } from '../../providers/simulated/rich-messages.ts'
import { createTelnyxMessages } from '../../providers/telnyx/rich-messages.ts'
import { systemClock as clock } from '../../runtime/clock.ts'

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

t.test('an agent of Telnyx that is enabled', async (t) => {
  const { state, telnyx } = await serve(t)
  state.body = JSON.stringify({ data: { agent_id: 'agent 1', enabled: true } })
  t.equal(await telnyx.has('agent 1'), true)
  t.same(state.paths, ['GET /v2/messaging/rcs/agents/agent%201'])
  state.body = JSON.stringify({ data: { agent_id: 'agent 1', enabled: false } })
  t.equal(await telnyx.has('agent 1'), false)
})

t.test('an unknown name, and a provider that does not answer', async (t) => {
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

t.test('numbers that the provider does not answer about stay as they are', async (t) => {
  const number = (id: string, status: RmsgNumber['status']) => ({ id, status, providerIdentity: id }) as RmsgNumber
  const numbers = [
    number('there', 'active'),
    number('lost', 'paused'),
    number('back', 'unavailable'),
    number('silent', 'active'),
  ]
  const provider: Pick<RichMessageProvider, 'has'> = {
    has: (id) =>
      id === 'silent'
        ? Promise.reject(new RichMessageError({ status: 503, detail: null, mayBeSent: false }))
        : Promise.resolve(id !== 'lost'),
  }
  const marked: [string, boolean][] = []
  const inventory = {
    list: () => Promise.resolve([...numbers]),
    mark: ({ name }: { name: string }, isThere: boolean) => {
      marked.push([name, isThere])
      return Promise.resolve(number(name, isThere ? 'active' : 'unavailable'))
    },
  }
  const { changed, unknown } = await syncInventory(inventory, provider, false)
  t.same(marked.sort(), [
    ['back', true],
    ['lost', false],
  ])
  t.equal(changed.length, 2)
  t.equal(unknown, 1)
})
