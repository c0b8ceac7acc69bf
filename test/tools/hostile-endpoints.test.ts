/** Hostile endpoints of webhook tools, in a running server: their effect on the conversation. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { call, faultOf, startAdministered } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import { loopbackProviders, Page } from '../session/voice-session.ts'
import { startReceiver } from '../webhooks/receiver.ts'

const secondPort = await startReceiver()
let respond: (response: ServerResponse) => void = () => {}
const receiver = await startReceiver((response) => respond(response))
t.teardown(() => Promise.all([receiver.close(), secondPort.close()]))

const { admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: loopbackProviders,
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.1/32',
})
const acme = await admin.organization('has hostile tools')
const constraints = { allowedProviders: { stt: ['loopback'], llm: ['local'], tts: ['loopback'] } }
/** This time-out is long, because on a busy machine even a working endpoint may take long. */
const toolAt = (url: string, timeoutMs = 30_000) => ({
  name: 'find_order',
  description: 'Finds an order.',
  source: { kind: 'webhook', url, timeoutMs },
})

/** Calls a tool in a session. Returns how the call ended, by the session's events. */
async function outcomeAt(url: string, timeoutMs?: number): Promise<{ type: string; code: unknown }> {
  const page = await Page.join(acme, { constraints, tools: [toolAt(url, timeoutMs)] })
  page.send({ type: 'user_message', text: 'find order' })
  const events = async () => {
    const { events } = (await call(acme, 'GET', `/v1/calls/${page.id}/events`)).json<{
      events: { event_type: string; payload: Record<string, unknown> }[]
    }>()
    return events.find(({ event_type }) => /^agent\.tool_(completed|failed)$/.test(event_type))
  }
  let ended = await events()
  await until('the tool has ended', async () => (ended ??= await events()) !== undefined)
  await page.first('agent_message')
  page.send({ type: 'end' })
  await page.first('end')
  return { type: ended?.event_type ?? 'none', code: ended?.payload['code'] }
}

const cases: [title: string, answer: (response: ServerResponse) => void, expected: { type: string; code?: string }][] =
  [
    ['a good answer', (response) => void response.end('{"order": 5}'), { type: 'agent.tool_completed' }],
    ['text that is no JSON', (response) => void response.end('{"order":'), { type: 'agent.tool_completed' }],
    [
      'a redirect',
      (response) => void response.writeHead(307, { location: secondPort.url }).end(),
      { type: 'agent.tool_failed', code: 'http_error' },
    ],
    [
      'an answer that drips',
      (response) => {
        const timer = setInterval(() => response.write(' '), 100)
        response.on('close', () => clearInterval(timer))
      },
      { type: 'agent.tool_failed', code: 'timeout' },
    ],
    [
      'an answer without end',
      (response) => {
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
        }
        response.on('drain', more)
        more()
      },
      { type: 'agent.tool_failed', code: 'too_large' },
    ],
    ['no answer', () => {}, { type: 'agent.tool_failed', code: 'timeout' }],
  ]
for (const [title, answer, expected] of cases)
  t.test(`the call of a tool has the right result if its endpoint gives ${title}`, async (t) => {
    respond = answer
    t.match(await outcomeAt(receiver.url, expected.code === 'timeout' ? 1000 : undefined), expected)
    t.equal(secondPort.received.length, 0, 'no redirect is followed')
  })

t.test('a private address of a tool is refused in every spelling', async (t) => {
  const inner = createServer((_request, response) => void response.end('{}'))
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.2', resolve))
  t.teardown(() => new Promise((resolve) => inner.close(resolve)))
  let asked = 0
  inner.on('request', () => asked++)
  const { port } = inner.address() as AddressInfo
  for (const host of ['127.0.0.2', '127.0.2', '0x7f.2', '2130706434', '[::ffff:127.0.0.2]', '10.0.0.1', '[::1]']) {
    const tools = [toolAt(`http://${host}:${port}/`)]
    const refused = await call(acme, 'POST', '/v1/sessions', { intent: { language: 'en' }, constraints, tools })
    t.match(faultOf(refused), { status: 400, paths: ['/tools/0/source/url'] }, host)
  }
  t.match(await outcomeAt(`https://localtest.invalid:${port}/`), { type: 'agent.tool_failed', code: 'unreachable' })
  t.equal(asked, 0)
})

t.test('a tool that has the name of a built-in tool replaces it', async (t) => {
  respond = (response) => void response.end('{}')
  const before = receiver.received.length
  const tools = [{ ...toolAt(receiver.url), name: 'end_call' }]
  const page = await Page.join(acme, { constraints, tools })
  page.send({ type: 'user_message', text: 'end call' })
  await until('the tool is asked', () => receiver.received.length > before)
  t.equal(receiver.received.length, before + 1)
  await page.first('agent_message')
  t.same(page.all('end'), [], 'the call goes on')
  page.send({ type: 'end' })
  await page.first('end')
})
