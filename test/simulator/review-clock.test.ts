/** Tests the simulated carrier's clock in a running product: which clients may move it, and the effect. */
import t from 'tap'
import { brandProfile } from '../carrier/sms-profiles.ts'
import { call } from '../platform/setup.ts'
import { ownServer, serverWith, type TestServer } from '../server.ts'

const path = '/simulator/clock'

async function statusOf(
  { url, key }: Pick<TestServer, 'url' | 'key'>,
  body: object,
  headers: Record<string, string> = {},
): Promise<number> {
  const all = { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers }
  return (await fetch(`${url}${path}`, { method: 'POST', headers: all, body: JSON.stringify(body) })).status
}

t.test("a local user may advance the simulated review clock, but a proxy or another site's page may not", async (t) => {
  const parley = await ownServer(t)
  const advanceMs = 5_000
  t.equal(await statusOf(parley, { advanceMs }, { 'x-forwarded-for': '203.0.113.7' }), 404)
  t.equal(await statusOf({ ...parley, key: '' }, { advanceMs }), 401)
  t.equal(await statusOf(parley, { advanceMs }, { origin: 'https://elsewhere.example' }), 403)
  for (const wrong of [{}, { advanceMs: 0 }, { advanceMs: -1 }, { advanceMs: 1.5 }, { advanceMs: 864_000_001 }])
    t.equal(await statusOf(parley, wrong), 400, JSON.stringify(wrong))
  await call(parley, 'PUT', '/v1/sms/10dlc/brand', brandProfile)
  const submit = async () => (await call(parley, 'POST', '/v1/sms/10dlc/brand/submit')).json<{ status: string }>()
  t.match(await submit(), { status: 'pending' })
  const moved = await call(parley, 'POST', path, { advanceMs })
  t.equal(moved.status, 200)
  t.ok(Date.parse(moved.json<{ time: string }>().time) >= Date.now() + advanceMs - 1000)
  t.match(await submit(), { status: 'verified' })
  const { ownBrand } = (await call(parley, 'GET', '/v1/sms/10dlc')).json<{ ownBrand: { submittedAt: string } }>()
  t.ok(Date.parse(ownBrand.submittedAt) <= Date.now(), 'the time of the product is not moved')
})

t.test('on a server with a public URL the review clock cannot be moved', async (t) => {
  const parley = await serverWith({ PARLEY_PUBLIC_URL: 'https://parley.example' })
  t.equal(await statusOf(parley, { advanceMs: 1 }), 404)
})
