/** Webhook tools at local addresses: allowed on a first local run, refused otherwise. */
import t from 'tap'
import { isReachedHereOnly, withLoopbackTools } from '../../app/first-run.ts'
import { checkServing } from '../../app/settings.ts'
import { configKeys } from '../../generated/config/keys.ts'
import type { ParleyConfig } from '../../generated/config/types.ts'
import { validateConfig } from '../../generated/config/validator.ts'
import { placeOfHost } from '../../runtime/outbound/address-guard.ts'
import { loadConfig } from '../../runtime/process/config.ts'
import { call } from '../platform/setup.ts'
import { ownServer } from '../server.ts'
import { Page } from '../session/voice-session.ts'
import { startReceiver } from '../webhooks/receiver.ts'

const configOf = (env: Record<string, string>) => loadConfig<ParleyConfig>(env, configKeys, validateConfig)

t.test(
  'on a local server with its own Postgres, agent tools may call this machine, but no other private address',
  async (t) => {
    const { allowedSubnets } = withLoopbackTools(await configOf({})).outbound
    for (const host of ['127.0.0.1', '127.8.0.1', '[::1]'])
      t.equal(placeOfHost(host, { allowedSubnets }), 'allowed', host)
    for (const host of ['10.0.0.1', '169.254.169.254', '[fd00::1]', '0.0.0.0'])
      t.equal(placeOfHost(host, { allowedSubnets }), 'refused', host)
    const more = withLoopbackTools(await configOf({ PARLEY_OUTBOUND_ALLOWED_SUBNETS: '10.0.0.0/8' }))
    t.same(more.outbound.allowedSubnets, ['10.0.0.0/8', '127.0.0.0/8', '::1/128'])
  },
)

t.test('tools of a server with a public URL or an external Postgres may not call this machine', async (t) => {
  for (const env of [
    { DATABASE_URL: 'postgres://u@h/d' },
    { PARLEY_HOST: '0.0.0.0' },
    { PARLEY_PUBLIC_URL: 'https://voice.example.com' },
    { PARLEY_TRUSTED_PROXIES: '127.0.0.1/32' },
    { PARLEY_NODE_URL: 'https://voice.example.com/node-1' },
  ])
    t.same(withLoopbackTools(await configOf(env)).outbound.allowedSubnets, [], JSON.stringify(env))
})

t.test('a first local run creates no API key if a setting suggests a proxy', async (t) => {
  t.equal(isReachedHereOnly(await configOf({})), true)
  for (const env of [
    { PARLEY_HOST: '0.0.0.0' },
    { PARLEY_PUBLIC_URL: 'https://voice.example.com' },
    { PARLEY_TRUSTED_PROXIES: '127.0.0.1/32' },
    { PARLEY_NODE_URL: 'https://voice.example.com/node-1' },
  ]) {
    t.equal(isReachedHereOnly(await configOf(env)), false)
    const server = await ownServer(t, { PARLEY_BOOTSTRAP_KEY: '', PARLEY_MASTER_KEY: 'm'.repeat(32), ...env })
    t.same(server.gateway.firstKey, { kind: 'none' }, 'no key is made')
    const { status } = await fetch(`${server.gateway.url}/try/agents`)
    t.equal(status, 404, 'the page asks for a key')
  }
})

t.test('with the embedded database a tool on this machine is stored and called', async (t) => {
  let wasCalled = () => {}
  const called = new Promise<void>((resolve) => (wasCalled = resolve))
  const receiver = await startReceiver((response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"state":"on its way"}')
    wasCalled()
  })
  t.teardown(() => receiver.close())
  const providers = JSON.stringify(['loopback', 'local'].map((id) => ({ id, adapter: id })))
  const server = await ownServer(t, {
    DATABASE_URL: '',
    PARLEY_BOOTSTRAP_KEY: '',
    PARLEY_PROVIDERS: providers,
    PARLEY_LOCAL_WARM: 'false',
  })
  const { firstKey, url } = server.gateway
  const target = { url, key: firstKey.kind === 'local' ? firstKey.key : '' }
  const agent = await call(target, 'POST', '/v1/agents', { name: 'a', systemPrompt: 'p', intent: { language: 'en' } })
  const { id: agentId } = agent.json<{ id: string }>()
  const tool = {
    name: 'find_order',
    description: 'Finds an order.',
    parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
    source: { kind: 'webhook', url: receiver.url },
  }
  const stored = await call(target, 'POST', `/v1/agents/${agentId}/tools`, tool)
  t.equal(stored.status, 201, stored.text)
  const allowedProviders = { stt: ['loopback'], llm: ['local'], tts: ['loopback'] }
  const page = await Page.join(target, { agentId, constraints: { allowedProviders } })
  t.teardown(() => page.close())
  page.send({ type: 'user_message', text: 'Use find order with the number 4711.' })
  await called
  t.match(JSON.parse(receiver.received[0]?.body.toString() ?? ''), { tool: 'find_order', args: { number: '4711' } })
})

t.test('all nodes on one database need the same master key', async (t) => {
  const node = { PARLEY_NODE_URL: 'https://voice.example.com/node-1' }
  const shared = { ...node, DATABASE_URL: 'postgres://u@h/d' }
  const check = async (env: Record<string, string>) => checkServing(await configOf(env), env)
  await t.rejects(check(shared), /^PARLEY_MASTER_KEY: is required with nodeUrl/)
  await t.resolves(check({ ...shared, PARLEY_MASTER_KEY: 'm'.repeat(32) }))
  await t.resolves(check(node), 'an embedded database has no other node')
  await t.resolves(check({ DATABASE_URL: 'postgres://u@h/d' }), 'a single node keeps its key')
})

t.test("if a tool's address is refused, the error names the variable that allows the address", async (t) => {
  const server = await ownServer(t)
  const agent = await call(server, 'POST', '/v1/agents', { name: 'a', systemPrompt: 'p', intent: { language: 'en' } })
  const { id } = agent.json<{ id: string }>()
  for (const [url, words] of [
    ['http://127.0.0.1:3111/order', /PARLEY_OUTBOUND_ALLOWED_SUBNETS=127\.0\.0\.0\/8/],
    ['https://10.1.2.3/order', /PARLEY_OUTBOUND_ALLOWED_SUBNETS/],
    ['http://localhost:3111/order', /PARLEY_OUTBOUND_ALLOWED_SUBNETS/],
  ] as const) {
    const tool = { name: 'find_order', description: 'Finds an order.', source: { kind: 'webhook', url } }
    const { status, text } = await call(server, 'POST', `/v1/agents/${id}/tools`, tool)
    t.equal(status, 400, text)
    t.match(text, words)
  }
})
