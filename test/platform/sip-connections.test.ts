/** Tests changes of SIP connections over the public API. */
import t from 'tap'
import { openDatabase } from '../process/database.ts'
import type { Target } from '../router/requests.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Row = Record<string, unknown> & { id: string }

const connections = '/v1/phone-numbers/sip-connections'
const patch = (target: Target, id: string, body: object) => call(target, 'PATCH', `${connections}/${id}`, body)
const outbound = { host: 'sip.example.com', port: 5062, transport: 'tcp', username: 'desk', password: 'open sesame' }
const inbound = { allowedAddresses: ['203.0.113.0/28'] }

async function withConnection(name: string) {
  const acme = await admin.organization(name)
  const made = await call(acme, 'POST', connections, { name: 'Head office', outbound, inbound })
  t.equal(made.status, 201, made.text)
  return { acme, made: made.json<Row>() }
}

t.test('updateSipConnection: an omitted field keeps its value', async (t) => {
  const { acme, made } = await withConnection('keeps')
  const { id } = made
  await sql`update sip_connections set status = 'ready' where id = ${id}`
  const named = (await patch(acme, id, { name: 'Branch', provider: 'Example Telecom' })).json<Row>()
  t.match(named, { name: 'Branch', provider: 'Example Telecom', outbound: made.outbound, inbound: made.inbound })
  t.equal(named.status, 'ready')
  t.same((await patch(acme, id, {})).json(), named, 'nothing is changed, not even updatedAt')
  const same = (await patch(acme, id, { outbound: { host: outbound.host } })).json<Row>()
  t.match(same, { outbound: made.outbound, status: 'ready' })
  const elsewhere = { host: 'sip.example.org', password: outbound.password }
  const moved = (await patch(acme, id, { outbound: elsewhere })).json<Row>()
  t.match(moved, { status: 'unverified', outbound: { host: 'sip.example.org', port: 5062, username: 'desk' } })
  t.match(moved, { outbound: { hasPassword: true } })
  t.same((await call(acme, 'GET', connections)).json(), [moved])
})

t.test('updateSipConnection: null removes the inbound side, the outbound side or the login', async (t) => {
  const { acme, made } = await withConnection('removes')
  const { id } = made
  const open = (await patch(acme, id, { outbound: { host: outbound.host, username: null } })).json<Row>()
  t.match(open, { outbound: { username: null, hasPassword: false }, status: 'unverified' })
  const [row] = await sql<{ sealed: Buffer | null }[]>`select sealed from sip_connections where id = ${id}`
  t.equal(row?.sealed, null, 'no password is stored any more')
  const single = (await patch(acme, id, { outbound: null })).json<Row>()
  t.match(single, { outbound: null, inbound: made.inbound })
  t.same(faultOf(await patch(acme, id, { inbound: null })).status, 400, 'one side must stay')
})

t.test('updateSipConnection: a password for one host is not kept for another host', async (t) => {
  const { acme, made } = await withConnection('moves')
  const refused = await patch(acme, made.id, { outbound: { host: 'sip.example.org' } })
  t.same(faultOf(refused), { status: 400, code: 'VALIDATION_ERROR', paths: ['/outbound/password'] })
  t.match(refused.json<{ error: string }>().error, /must be sent again, because the host has changed/)
  const renamed = await patch(acme, made.id, { outbound: { host: 'sip.example.org', username: 'other' } })
  t.same(faultOf(renamed), { status: 400, code: 'VALIDATION_ERROR', paths: ['/outbound/password'] })
  t.same((await call(acme, 'GET', connections)).json(), [made], 'nothing was changed')
  const upper = await patch(acme, made.id, { outbound: { host: 'SIP.example.com', port: 5070 } })
  t.equal(upper.status, 200, 'a name of a host in capitals is the same name')
  const open = await patch(acme, made.id, { outbound: { host: 'sip.example.org', username: null } })
  t.match(open.json(), { outbound: { host: 'sip.example.org', username: null, hasPassword: false } })
  const again = await patch(acme, made.id, { outbound: { host: 'sip.example.net' } })
  t.equal(again.status, 200, 'there is no password to protect')
})

t.test('createSipConnection and updateSipConnection accept userPhone, identity and register', async (t) => {
  const { acme, made } = await withConnection('identifies')
  t.match(made.outbound, { userPhone: false, identity: 'from', register: false }, 'as most trunks want it')
  const ways = { userPhone: true, identity: 'preferred', register: true }
  const second = await call(acme, 'POST', connections, { name: 'Second', outbound: { ...outbound, ...ways } })
  t.match(second.json<Row>().outbound, ways)
  await sql`update sip_connections set status = 'ready'`
  const { host } = outbound
  const asserted = (await patch(acme, made.id, { outbound: { host, identity: 'asserted' } })).json<Row>()
  t.match(asserted, { outbound: { username: 'desk', userPhone: false, identity: 'asserted', register: false } })
  t.equal(asserted.status, 'unverified')
  const kept = await patch(acme, second.json<Row>().id, { outbound: { host, port: 5070 } })
  t.match(kept.json<Row>().outbound, { ...ways, port: 5070, hasPassword: true }, 'fields that are left out stay')
  for (const refused of [
    await call(acme, 'POST', connections, { name: 'Third', outbound: { host, register: true } }),
    await patch(acme, second.json<Row>().id, { outbound: { host, username: null } }),
  ])
    t.match(faultOf(refused), { status: 400, code: 'VALIDATION_ERROR', paths: ['/outbound/username'] })
  const unknown = await patch(acme, made.id, { outbound: { host, identity: 'remote' } })
  t.match(faultOf(unknown), { status: 400, paths: ['/outbound/identity'] })
})

t.test('createSipConnection: the error for a wrong value shows the right form', async (t) => {
  const { acme } = await withConnection('says how')
  const rows: [body: object, words: string][] = [
    [{ inbound: { allowedAddresses: ['203.0.113.5'] } }, '203.0.113.5/32 for one address'],
    [{ inbound: { allowedAddresses: ['203.0.113.0/40'] } }, 'such as 203.0.113.0/28'],
    [{ inbound: { allowedAddresses: ['127.1/8'] } }, 'such as 203.0.113.0/28'],
    [{ inbound: { allowedAddresses: ['0177.0.0.1/8'] } }, 'such as 203.0.113.0/28'],
    [{ inbound: { allowedAddresses: ['1/8'] } }, 'such as 203.0.113.0/28'],
    [{ outbound: { host: 'sip:sip.example.com' } }, 'such as sip.example.com'],
    [{ outbound: { host: 'sip.example.com:5060' } }, 'a port has a field beside it'],
    [{ outbound: { host: '10.0.0.1' } }, 'PARLEY_OUTBOUND_ALLOWED_SUBNETS'],
    ...['2130706433', '0x7f.1', '127.1', '017700000001', 'localhost', 'sip.localhost', 'LOCALHOST'].map(
      (host): [object, string] => [{ outbound: { host } }, 'PARLEY_OUTBOUND_ALLOWED_SUBNETS'],
    ),
    [{ outbound: { host: 'sip.example.com', port: 70_000 } }, '/outbound/port must be <= 65535'],
  ]
  for (const [body, words] of rows) {
    const refused = await call(acme, 'POST', connections, { name: 'Refused', ...body })
    t.equal(refused.status, 400, refused.text)
    t.match(refused.json<{ error: string }>().error, words)
  }
})

t.test('updateSipConnection: refuses the same values as createSipConnection', async (t) => {
  const { acme, made } = await withConnection('refuses')
  const second = await call(acme, 'POST', connections, { name: 'Second', inbound })
  t.equal(second.status, 201)
  for (const body of [
    { name: 'Second' },
    { outbound: { host: '127.0.0.1' } },
    { outbound: { host: outbound.host, password: null } },
    { inbound: { allowedAddresses: [] } },
    { inbound: { username: 'desk' } },
  ])
    t.match(faultOf(await patch(acme, made.id, body)), { status: 400, code: 'VALIDATION_ERROR' })
  t.match((await call(acme, 'GET', connections)).json<Row[]>().at(-1), made)
  const unknown = await patch(acme, `sip_${'0'.repeat(22)}`, { name: 'None' })
  t.match(faultOf(unknown), { status: 404, code: 'NOT_FOUND' })
})

t.test(
  'createSipConnection: an organization has at most 20 live and 20 test connections, also for simultaneous requests',
  async (t) => {
    const acme = await admin.organization('with many')
    const inTest = await admin.key(acme.id, { test: true, scopes: ['platform'] })
    const create = (target: Target, name: string) => call(target, 'POST', connections, { name, inbound })
    for (let made = 1; made <= 18; made++) t.equal((await create(acme, `Trunk ${made}`)).status, 201)
    const atOnce = await Promise.all(['19', '20', '21', '22'].map((name) => create(acme, name)))
    t.same(
      atOnce.map(({ status }) => status).sort((a, b) => a - b),
      [201, 201, 409, 409],
    )
    const refused = await create(acme, 'One more')
    t.match(refused.json(), { code: 'LIMIT_REACHED', error: /20 SIP connections/ })
    const listed = (await call(acme, 'GET', connections)).json<Row[]>()
    t.equal(listed.length, 20)
    t.equal((await create(inTest, 'Trunk 1')).status, 201)
    t.equal((await call(acme, 'DELETE', `${connections}/${listed[0]?.id}`)).status, 204)
    t.equal((await create(acme, 'One more')).status, 201)
  },
)

t.test('all SIP connections of an organization together may allow a limited number of IP addresses', async (t) => {
  const acme = await admin.organization('with many addresses')
  const create = (name: string, ...allowedAddresses: string[]) =>
    call(acme, 'POST', connections, { name, inbound: { allowedAddresses } })
  const first = await create('First', '10.0.0.0/16', '10.1.0.0/16')
  const second = await create('Second', '10.2.0.0/16', '2001:db8::/32')
  t.same([first.status, second.status], [201, 201])
  t.match(faultOf(await create('Third', '203.0.113.5/32')), { status: 400, paths: ['/inbound/allowedAddresses'] })
  const { id } = first.json<Row>()
  const wider = { inbound: { allowedAddresses: ['10.0.0.0/16', '10.1.0.0/16', '203.0.113.5/32'] } }
  t.match(faultOf(await patch(acme, id, wider)), { status: 400, paths: ['/inbound/allowedAddresses'] })
  t.equal((await patch(acme, id, { inbound: { allowedAddresses: ['10.0.0.0/16'] } })).status, 200)
  t.equal((await create('Third', '203.0.113.5/32')).status, 201)
})
