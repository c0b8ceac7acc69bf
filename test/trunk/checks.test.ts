/** A client may request a check of a SIP trunk. The server then sends OPTIONS to the trunk at once. */
import t from 'tap'
import { openOut } from './outbound-setup.ts'

t.test('a trunk is checked at once: the answer is timed, and counts for the state of the trunk', async (t) => {
  for (const [code, error, looks] of [
    [200, null, [['sip_out', true]]],
    [404, null, []],
    [503, 'refused', [['sip_out', false]]],
  ] as const) {
    const { trunk, far } = await openOut(t)
    const checking = trunk.line.check('sip_out')
    const asked = await far.request('OPTIONS')
    await trunk.clock.advance(40)
    far.respond(asked, code)
    t.same(await checking, { sipCode: code, roundTripMs: 40, error })
    t.same(trunk.looks, looks)
  }
  const { trunk } = await openOut(t)
  t.equal(await trunk.line.check('sip_other'), null)
})

t.test('a check answers the challenge of a trunk with the login', async (t) => {
  const { trunk, far } = await openOut(t, { username: 'desk', password: 'x' })
  const checking = trunk.line.check('sip_out')
  const headers = ['WWW-Authenticate: Digest realm="r", nonce="1"']
  far.respond(await far.request('OPTIONS'), 401, { headers })
  far.respond(await far.request('OPTIONS', 2), 401, { headers })
  t.match(await checking, { sipCode: 401, error: 'refused' })
})

t.test('a check without an answer ends after 5 s, and does not change the state of the trunk', async (t) => {
  const { trunk, far } = await openOut(t)
  const checking = trunk.line.check('sip_out')
  await far.request('OPTIONS')
  await trunk.clock.advance(5_000)
  t.same(await checking, { sipCode: null, roundTripMs: null, error: 'timeout' })
  t.same(trunk.looks, [])
  const sent = far.requests('OPTIONS').length
  await trunk.clock.advance(20_000)
  t.equal(far.requests('OPTIONS').length, sent)
})

t.test('a check says that the resolver does not know the host, or that no address is permitted', async (t) => {
  for (const [host, error] of [
    ['nowhere.test', 'unreachable'],
    ['unknown.test', 'dns'],
  ] as const) {
    const { trunk } = await openOut(t, { host })
    t.same(await trunk.line.check('sip_out'), { sipCode: null, roundTripMs: null, error })
    t.same(trunk.looks, [])
  }
})

t.test('two checks of a trunk at once send one request, and a changed connection is checked anew', async (t) => {
  const more = { userPhone: false }
  const { trunk, far } = await openOut(t, more)
  const checks = [trunk.line.check('sip_out'), trunk.line.check('sip_out')]
  const asked = await far.request('OPTIONS')
  more.userPhone = true
  const changed = trunk.line.check('sip_out')
  far.respond(await far.request('OPTIONS', 2), 403)
  t.match(await changed, { sipCode: 403, error: 'refused' })
  far.respond(asked, 200)
  for (const check of checks) t.match(await check, { sipCode: 200, error: null })
  t.equal(far.requests('OPTIONS').length, 2)
  const again = trunk.line.check('sip_out')
  far.respond(await far.request('OPTIONS', 3), 200)
  t.match(await again, { sipCode: 200 })
})
