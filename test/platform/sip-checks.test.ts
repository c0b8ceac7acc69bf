/** checkSipConnection over the public API, with a trunk on this machine. */
import t from 'tap'
import { freePort } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { SipPeer, wanted } from '../trunk/sip-peer.ts'
import { trunkEnv } from '../trunk/trunk-server.ts'
import { call, faultOf, startAdministered, startOwnAdministered } from './setup.ts'

const connections = '/v1/phone-numbers/sip-connections'
const inbound = { allowedAddresses: ['203.0.113.0/28'] }

async function connected(target: Target, sides: object): Promise<string> {
  const made = await call(target, 'POST', connections, { name: 'Head office', ...sides })
  return made.json<{ id: string }>().id
}

const check = (target: Target, id: string) => call(target, 'POST', `${connections}/${id}/check`)

t.test('checkSipConnection sends OPTIONS to the trunk, and the answer sets its status', async (t) => {
  const sipPort = await freePort()
  const { admin } = await startOwnAdministered(t, trunkEnv(sipPort))
  const acme = await admin.organization('with a trunk', { scopes: ['platform', 'admin'] })
  const far = await SipPeer.open({ port: sipPort })
  t.teardown(() => far.close())
  const id = await connected(acme, { outbound: { host: '127.0.0.1', port: far.port } })
  const checking = check(acme, id)
  far.respond(await far.request('OPTIONS'), 200)
  const answers = (await checking).json<{ roundTripMs: number }>()
  t.match(answers, { ok: true, sipStatusCode: 200, sipStatus: 'OK', error: null, checkedAt: /Z$/ })
  t.ok(answers.roundTripMs > 0)
  t.match((await call(acme, 'GET', connections)).json(), [{ id, status: 'ready' }])
  const again = check(acme, id)
  far.respond(await far.request('OPTIONS', 2), 403)
  t.match((await again).json(), { ok: false, sipStatusCode: 403, sipStatus: 'Forbidden', error: 'refused' })
  const { events } = (await call(acme, 'GET', '/v1/audit-events?action=sip_connection.checked')).json<{
    events: object[]
  }>()
  t.match(events, [{ target: { type: 'sip_connection', id } }, { target: { id } }])
  const inboundOnly = await connected(acme, { name: 'Inbound', inbound })
  t.same(faultOf(await check(acme, inboundOnly)), { status: 400, code: 'VALIDATION_ERROR', paths: ['/outbound'] })
})

t.test('checkSipConnection needs a SIP port of the server, and is simulated for test keys', async (t) => {
  const { admin } = await startAdministered(t)
  const acme = await admin.organization('without a port')
  const outbound = { host: 'sip.example.com' }
  const refused = await check(acme, await connected(acme, { outbound }))
  t.same(faultOf(refused), { status: 400, code: 'VALIDATION_ERROR', paths: ['/outbound'] })
  t.match(refused.json<{ error: string }>().error, /no port for SIP/)
  const test = { ...acme, ...(await admin.key(acme.id, { test: true })) }
  const id = await connected(test, { outbound })
  t.match((await check(test, id)).json(), { ok: true, sipStatusCode: 200, roundTripMs: 0, error: null })
  t.same(faultOf(await check(acme, id)), { status: 404, code: 'NOT_FOUND' })
})

/** Answers a check. Checks are counted by Call-ID, because a busy machine may repeat requests. */
async function answerCheck(far: SipPeer, number: number): Promise<void> {
  const find = () => new Map(far.requests('OPTIONS').map((request) => [request.callId, request]))
  const asked = await wanted(() => [...find().values()][number - 1], `check ${number}`)
  far.respond(asked, 200)
}

t.test('checkSipConnection refuses more than 30 checks a minute of an organization', async (t) => {
  const sipPort = await freePort()
  const { admin } = await startOwnAdministered(t, trunkEnv(sipPort))
  const acme = await admin.organization('that checks often')
  const far = await SipPeer.open({ port: sipPort })
  t.teardown(() => far.close())
  const outbound = { host: '127.0.0.1', port: far.port }
  const id = await connected(acme, { outbound })
  for (let checks = 1; checks <= 30; checks++) {
    const checking = check(acme, id)
    await answerCheck(far, checks)
    t.equal((await checking).status, 200)
  }
  const refused = await check(acme, id)
  t.same(faultOf(refused), { status: 429, code: 'RATE_LIMITED' })
  t.match(refused.json<{ error: string }>().error, /checked its SIP connections too often/)
  const waitS = Number(refused.headers.get('retry-after'))
  t.ok(waitS > 1 && waitS <= 60, `Retry-After is ${waitS}`)
  const beta = await admin.organization('beside')
  const other = check(beta, await connected(beta, { outbound }))
  await answerCheck(far, 31)
  t.equal((await other).status, 200, 'another organization is not limited')
  const test = { ...acme, ...(await admin.key(acme.id, { test: true })) }
  t.equal((await check(test, await connected(test, { outbound }))).status, 200, 'a simulated check sends nothing')
})
