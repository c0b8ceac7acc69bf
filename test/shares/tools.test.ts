/** Webhook tools: hanging tools of a hostile organization do not delay another organization's tool at the same host. */
import t from 'tap'
import { openAdministration } from '../platform/setup.ts'
import type { Target } from '../router/requests.ts'
import { loopbackProviders, Page } from '../session/voice-session.ts'
import { serverInTime } from '../time/server.ts'
import { startReceiver } from '../webhooks/receiver.ts'

const answerMs = 800
const hostileSessions = 30
const connectionsMax = 4
const constraints = { allowedProviders: { stt: ['loopback'], llm: ['local'], tts: ['loopback'] } }

t.test('tools that hang do not delay the tool of another organization at the same host', async (t) => {
  const server = await serverInTime(t, {
    PARLEY_PROVIDERS: loopbackProviders,
    PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.1/32',
  })
  const { clock } = server
  const receiver = await startReceiver((response, { path }) => {
    if (path === '/honest') clock.after(answerMs, () => response.end('{}'))
  })
  const admin = await openAdministration(server)
  t.teardown(() => Promise.all([receiver.close(), admin.close()]))
  const asked = (path: string) => receiver.received.filter((each) => each.path === path).length

  async function join(target: Target, path: string): Promise<Page> {
    const source = { kind: 'webhook', url: `http://127.0.0.1:${receiver.port}${path}`, timeoutMs: 30_000 }
    const tools = [{ name: 'find_order', description: 'Finds an order.', source }]
    const page = await Page.join({ ...target, clock }, { constraints, tools })
    t.teardown(() => page.close())
    return page
  }

  /** Lets the conversation call the tool. Returns the time until its result. */
  async function useTool(page: Page): Promise<number> {
    const answers = () => page.all('tool_call').filter(({ status }) => status === 'completed').length
    const [before, startedMs] = [answers(), clock.monotonicMs()]
    page.send({ type: 'user_message', text: 'find order' })
    await clock.until('the tool has answered', () => answers() > before)
    return clock.monotonicMs() - startedMs
  }

  const page = await join(await admin.organization('honest'), '/honest')
  const aloneMs = await useTool(page)
  t.ok(aloneMs >= answerMs, `alone: ${aloneMs} ms`)

  const hostile = await admin.organization('hostile')
  for (let i = 0; i < hostileSessions; i++)
    (await join(hostile, '/hang')).send({ type: 'user_message', text: 'find order' })
  await clock.until('the tools hang', () => asked('/hang') >= connectionsMax)
  await clock.advance(1000)
  t.equal(asked('/hang'), connectionsMax, 'one tool has a few connections')

  const besideMs = await useTool(page)
  t.ok(besideMs <= 1.2 * aloneMs, `beside hanging tools: ${besideMs} ms`)
  t.equal(asked('/honest'), 2)
})
