/** One organization sends requests that make a model fail. Another organization's requests are served all the same. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { runCommand } from '../command.ts'
import { serverInTime } from '../time/server.ts'
import { postJson } from './requests.ts'

/** Answers at once: with nothing if the request has stop words, and with a failure if the prompt asks for one. */
const provider = createServer((request, response) => {
  void (async () => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const body = JSON.parse(text) as { stop?: unknown; messages: { content: string }[] }
    const content = body.stop === undefined ? 'hello' : ''
    const status = Number(/status (\d+)/.exec(body.messages[0]?.content ?? '')?.[1] ?? 200)
    response.writeHead(status, { 'content-type': 'application/json', ...(status === 429 && { 'retry-after': '30' }) })
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
    response.end(status === 200 ? JSON.stringify({ choices }) : '{}')
  })()
})
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
t.teardown(() => provider.close())
const { port } = provider.address() as AddressInfo

const hostile: Record<string, object> = {
  'stop words': { stop: ['h'] },
  'a server error': { messages: [{ role: 'user', content: 'status 500' }] },
  'a rate limit with Retry-After': { messages: [{ role: 'user', content: 'status 429' }] },
  'a refused credential': { messages: [{ role: 'user', content: 'status 403' }] },
}

for (const [name, body] of Object.entries(hostile))
  t.test(`while one organization causes ${name} five times a second, another organization is served`, async (t) => {
    const models = { llm: ['mock'] }
    const parley = await serverInTime(t, {
      PARLEY_PROVIDERS: JSON.stringify([
        { id: 'only', adapter: 'openai', apiKey: 'k', baseUrl: `http://127.0.0.1:${port}/v1`, models },
      ]),
    })
    const { stdout } = await runCommand(parley, ['org', 'create', 'hostile'])
    const org = /org_\w+/.exec(stdout)?.[0] ?? ''
    const key = (await runCommand(parley, ['keys', 'create', '--org', org])).stdout.trim()
    const plain = { model: 'only/mock', messages: [{ role: 'user', content: 'Hi' }] }
    const chat = (target: { url: string; key: string }, more: object = {}) =>
      postJson(target, '/v1/chat/completions', { ...plain, ...more })
    let served = 0
    for (let i = 0; i < 40; i++) {
      for (let j = 0; j < 5; j++) {
        t.not((await chat({ url: parley.url, key }, body)).status, 200)
        await parley.clock.advance(200)
      }
      if ((await chat(parley)).status === 200) served += 1
    }
    t.equal(served, 40)
  })
