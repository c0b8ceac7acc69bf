/** SIP connections: how they are changed. */
import t from 'tap'
import { openDatabase } from '../process/database.ts'
import type { Target } from '../router/requests.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const sql = openDatabase(parley.dataDir)
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

t.test('updateSipConnection: a field that is left out stays as it is', async (t) => {
  const { acme, made } = await withConnection('keeps')
  const { id } = made
  await sql`update sip_connections set status = 'ready' where id = ${id}`
  const named = (await patch(acme, id, { name: 'Branch', provider: 'Example Telecom' })).json<Row>()
  t.match(named, { name: 'Branch', provider: 'Example Telecom', outbound: made.outbound, inbound: made.inbound })
  t.equal(named.status, 'ready')
  t.same((await patch(acme, id, {})).json(), named, 'nothing is changed, not even updatedAt')
  const same = (await patch(acme, id, { outbound: { host: outbound.host } })).json<Row>()
  t.match(same, { outbound: made.outbound, status: 'ready' })
  const moved = (await patch(acme, id, { outbound: { host: 'sip.example.org' } })).json<Row>()
  t.match(moved, { status: 'unverified', outbound: { host: 'sip.example.org', port: 5062, username: 'desk' } })
  t.match(moved, { outbound: { hasPassword: true } })
  t.same((await call(acme, 'GET', connections)).json(), [moved])
})

t.test('updateSipConnection: null removes a side and a login', async (t) => {
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

t.test('updateSipConnection: refuses the same as createSipConnection', async (t) => {
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
  t.match((await call(acme, 'GET', connections)).json<Row[]>()[0], made)
  const unknown = await patch(acme, `sip_${'0'.repeat(22)}`, { name: 'None' })
  t.match(faultOf(unknown), { status: 404, code: 'NOT_FOUND' })
})
