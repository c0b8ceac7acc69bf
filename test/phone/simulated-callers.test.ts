/** The clients that may let a simulated person call. */
import t from 'tap'
import { startParley } from '../process/parley.ts'

const asked = { to: '+15005550100', lines: ['Goodbye.'] }

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  const body = JSON.stringify(asked)
  const all = { 'content-type': 'application/json', ...headers }
  return (await fetch(`${url}/simulator/calls`, { method: 'POST', headers: all, body })).status
}

t.test('a user of this machine, but no proxy and no page of another site', async (t) => {
  const parley = await startParley()
  t.teardown(() => parley.remove())
  t.equal(await statusOf(parley.url, { 'x-forwarded-for': '203.0.113.7' }), 404)
  t.equal(await statusOf(parley.url, { origin: 'https://elsewhere.example' }), 403)
  t.equal(await statusOf(parley.url), 201)
})

t.test('nobody, on a server with a public address', async (t) => {
  const parley = await startParley({ PARLEY_PUBLIC_URL: 'https://parley.example' })
  t.teardown(() => parley.remove())
  t.equal(await statusOf(parley.url), 404)
})
