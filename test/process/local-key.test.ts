/**
 * A server that other machines can reach creates no API key at its first start. Only clients on the same machine get
 * tokens without an API key.
 */
import t, { type Test } from 'tap'
import { runParley } from './command.ts'
import { startParley } from './parley.ts'

async function tokenOf(t: Test, env: Record<string, string>, headers: Record<string, string> = {}): Promise<number> {
  const parley = await startParley({ PARLEY_BOOTSTRAP_KEY: '', ...env })
  t.teardown(() => parley.remove())
  const answer = await fetch(`${parley.url}/try/token`, { method: 'POST', headers: { origin: parley.url, ...headers } })
  await answer.arrayBuffer()
  return answer.status
}

t.test('a client on the same machine gets a token without an API key', async (t) => {
  t.equal(await tokenOf(t, {}), 200)
})

t.test('if PARLEY_PUBLIC_URL is set, no client gets a token without an API key', async (t) => {
  t.equal(await tokenOf(t, { PARLEY_PUBLIC_URL: 'https://parley.example' }), 404)
})

t.test('a client behind a proxy gets no token without an API key', async (t) => {
  t.equal(await tokenOf(t, {}, { 'x-real-ip': '203.0.113.7' }), 404)
})

t.test('if PARLEY_PUBLIC_URL is set, the server creates no organization and prints no API key', async (t) => {
  const parley = await startParley({ PARLEY_BOOTSTRAP_KEY: '', PARLEY_PUBLIC_URL: 'https://parley.example' })
  t.teardown(() => parley.remove())
  t.notMatch(parley.output(), /sk_(live|test)_/)
  const { stdout } = await runParley(['org', 'list', '--json'], { dataDir: parley.dataDir })
  t.same(JSON.parse(stdout), { data: [], nextCursor: null })
})
