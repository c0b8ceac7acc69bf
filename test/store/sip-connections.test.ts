/** The organizations' SIP connections: how the trunk line finds them, and how organizations change them. */
import t from 'tap'
import type { ConnectionPasswords, OwnedConnection } from '../../domain/records/sip-connection.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

type More = Partial<OwnedConnection> & { passwords?: Partial<ConnectionPasswords> }

async function openConnections(test: Parameters<TestCluster['store']>[0]) {
  const url = await cluster.database()
  const store = await cluster.store(test, url, { serves: false })
  const [one, other] = [await organization(store, 'one'), await organization(store, 'other')]
  const { ownedConnections: owned, ownedNumbers: numbers, sipConnections: connections } = store
  const add = async (organizationId: string, { passwords, ...more }: More = {}) => {
    const connection: OwnedConnection = {
      ...{
        organizationId,
        test: false,
        id: systemIds.sipConnection(),
        name: systemIds.sipConnection(),
        provider: null,
      },
      outbound: null,
      inbound: { allowedAddresses: ['203.0.113.0/28', '2001:db8::/64'], username: null, hasPassword: false },
      ...{ status: 'unverified', numbers: 0, createdAtMs: 1, updatedAtMs: 1 },
      ...more,
    }
    const outcome = await owned.insert(connection, { outbound: null, inbound: null, ...passwords }, 3, () => {})
    return { connection, outcome, id: connection.id }
  }
  const number = (organizationId: string, connectionId: string, e164: string, createdAtMs = 1) =>
    numbers.import(
      {
        ...{ organizationId, test: false, id: systemIds.phoneNumber(), e164, source: 'sip_trunk', connectionId },
        ...{ sipProviderName: null, connection: null, direction: 'outbound', agentId: null, label: null },
        ...{ dispatchMetadataTemplate: null, order: { status: 'done', id: null, resourceId: null }, price: null },
        ...{
          nextChargeAtMs: null,
          lastChargedAtMs: null,
          overdueSinceMs: null,
          suspendedAtMs: null,
          firstCalledAtMs: null,
          takesSms: false,
          smsAssignment: null,
          smsReviewErrors: [],
          ...{ awaitsApproval: false, isAlsoImported: false },
        },
        ...{ createdAtMs, updatedAtMs: createdAtMs },
      },
      1_000,
    )
  const statusOf = async (organizationId: string) => (await owned.list({ organizationId, test: false }))[0]?.status
  const sql = cluster.sql(test, url)
  return { store, sql, owned, connections, one: one.id, other: other.id, add, number, statusOf }
}

const addressing = { userPhone: true, identity: 'asserted', register: true } as const
const outbound = {
  host: 'sip.example.com',
  port: 5070,
  transport: 'tcp',
  username: 'u',
  hasPassword: true,
  ...addressing,
} as const

t.test("a call matches the connections with its source address, first its number's connection", async (t) => {
  const { connections, one, other, add, number } = await openConnections(t)
  const [first, second] = [await add(one), await add(other, { createdAtMs: 2 })]
  await add(one, { test: true })
  t.match(await number(other, second.id, '+493012345678'), {
    connectionId: second.id,
    connection: { status: 'unverified' },
  })
  const found = async (address: string, dialed: string) =>
    (await connections.ofAddress(address, dialed, [])).map(({ id }) => id)
  t.same(await found('203.0.113.15', '+12125550100'), [first.id, second.id])
  t.same(await found('::ffff:203.0.113.15', '03012345678'), [second.id, first.id], 'a national form')
  t.same(await found('2001:db8::7', ''), [first.id, second.id])
  t.same(await found('203.0.113.16', '+12125550100'), [])
})

t.test(
  'if two organizations share a trunk provider, a call goes to the exact number, then the earlier import',
  async (t) => {
    const { connections, one, other, add, number } = await openConnections(t)
    const [first, second] = [await add(one), await add(other, { createdAtMs: 2 })]
    const foundFirst = async (dialed: string) => (await connections.ofAddress('203.0.113.1', dialed, []))[0]?.id
    await number(one, first.id, '+4930345678', 3)
    await number(other, second.id, '+12125345678', 4)
    t.equal(await foundFirst('+12125345678'), second.id, 'the last six digits of both are the same')
    t.equal(await foundFirst('12125345678'), second.id)
    t.equal(await foundFirst('2125345678'), second.id, 'a national form')
    t.equal(await foundFirst('030345678'), first.id, 'a national form with its prefix')
    await number(other, second.id, '+493099999999', 5)
    await number(one, first.id, '+493099999999', 6)
    t.equal(await foundFirst('+493099999999'), second.id, 'an older connection does not take the number over')
  },
)

t.test(
  'a registered connection gets the calls of its trunk, even if another connection has the address range',
  async (t) => {
    const { connections, one, other, add, number } = await openConnections(t)
    const range = await add(other)
    const inbound = { allowedAddresses: [], username: null, hasPassword: false }
    const [first, second] = [
      await add(one, { outbound, inbound, createdAtMs: 2 }),
      await add(one, { outbound, inbound, createdAtMs: 3 }),
    ]
    const outgoing = await add(one, { outbound, inbound: null, createdAtMs: 4 })
    await number(one, first.id, '+4930345678', 3)
    await number(one, second.id, '+4930345679', 3)
    const registered = [first.id, second.id, outgoing.id]
    const found = async (address: string, dialed: string, ids = registered) =>
      (await connections.ofAddress(address, dialed, ids)).map(({ id }) => id)
    t.same(await found('203.0.113.1', '+4930345678'), [first.id, range.id, second.id])
    t.same(await found('203.0.113.1', '030345679'), [second.id, range.id, first.id])
    t.same(await found('198.51.100.1', '+4930345679'), [second.id, first.id], 'without a range')
    t.same(await found('198.51.100.1', '+4930345679', []), [])
  },
)

t.test('a call must authenticate if the first connection to import its number has a login', async (t) => {
  const { connections, one, other, add, number } = await openConnections(t)
  const inbound = { allowedAddresses: [], username: 'desk', hasPassword: true }
  const passwords = { inbound: 'open sesame' }
  const wide = await add(other, { inbound: { ...inbound, allowedAddresses: ['0.0.0.0/0'], username: null } })
  const withLogin = await add(one, { inbound, passwords, createdAtMs: 2 })
  const isAsked = (dialed: string, id = wide.id) => connections.wantsLogin(dialed, id)
  t.equal(await isAsked('+4930345678'), false, 'nobody has the number')
  await number(one, withLogin.id, '+4930345678', 3)
  t.equal(await isAsked('+4930345678'), true)
  t.equal(await isAsked('030345678'), true, 'a national form')
  t.equal(await isAsked('+12125345678'), false, 'another number with the same end')
  t.equal(await isAsked('+4930345678', withLogin.id), false, 'its own address is enough')
  await number(other, wide.id, '+4930345678', 4)
  t.equal(await isAsked('+4930345678'), true, 'a later import does not take the number over')
  await number(other, wide.id, '+4930777777', 5)
  await number(one, withLogin.id, '+4930777777', 6)
  t.equal(await isAsked('+4930777777'), false, 'nor does a later login')
  t.equal(await isAsked(''), false)
})

t.test('passwords are stored sealed, and are opened only for the SIP line', async (t) => {
  const { connections, sql, owned, one, add } = await openConnections(t)
  const inbound = { allowedAddresses: [], username: 'desk', hasPassword: true }
  const passwords = { outbound: 'out-k4n4ry', inbound: 'in-k4n4ry' }
  const { id } = await add(one, { outbound, inbound, passwords })
  const opened = {
    id,
    organizationId: one,
    outbound: {
      host: 'sip.example.com',
      port: 5070,
      transport: 'tcp',
      username: 'u',
      password: 'out-k4n4ry',
      ...addressing,
    },
    inbound: { username: 'desk', password: 'in-k4n4ry' },
  }
  t.same(await connections.ofUser('desk', ''), [opened])
  t.same(await connections.ofUser('nobody', ''), [])
  t.same(await connections.find(id), opened)
  t.same(await connections.registering(), [opened])
  t.same(await connections.find('sip_unknown'), null)
  const [listed] = await owned.list({ organizationId: one, test: false })
  t.match(listed, { outbound, inbound })
  t.notMatch(JSON.stringify(listed), /k4n4ry/)
  const [row] = await sql`select encode(sealed, 'escape') as sealed from sip_connections`
  t.notMatch(row?.['sealed'], /k4n4ry/)
})

t.test('a SIP connection is failing after three unanswered requests, and ready after an answer', async (t) => {
  const { connections, one, add, statusOf } = await openConnections(t)
  const { id } = await add(one, { outbound })
  await connections.noteAnswer(id, false)
  await connections.noteAnswer(id, false)
  t.equal(await statusOf(one), 'unverified')
  await connections.noteAnswer(id, false)
  t.equal(await statusOf(one), 'failing')
  await connections.noteCall(id)
  t.equal(await statusOf(one), 'failing', 'calls may come in where none can go out')
  await connections.noteAnswer(id, true)
  t.equal(await statusOf(one), 'ready')
  await connections.noteAnswer(id, false)
  t.equal(await statusOf(one), 'ready')
})

t.test('a connection whose registration is refused is failing, even if its trunk answers other requests', async (t) => {
  const { connections, one, add, statusOf } = await openConnections(t)
  const { id } = await add(one, { outbound })
  const refusedButAnswered = async (times: number) => {
    for (let time = 0; time < times; time++) {
      await connections.noteRegistration(id, false)
      await connections.noteAnswer(id, true)
    }
  }
  await refusedButAnswered(2)
  t.equal(await statusOf(one), 'unverified', 'an answer to another request does not make it ready')
  await refusedButAnswered(2)
  t.equal(await statusOf(one), 'failing')
  await connections.noteCall(id)
  t.equal(await statusOf(one), 'failing')
  await connections.noteRegistration(id, true)
  t.equal(await statusOf(one), 'ready')
  await refusedButAnswered(2)
  t.equal(await statusOf(one), 'ready', 'three refusals in a row count')
  await refusedButAnswered(1)
  t.equal(await statusOf(one), 'failing')
})

t.test('if refused settings are changed, earlier refusals of the registration do not count', async (t) => {
  const { connections, owned, one, add, statusOf } = await openConnections(t)
  const { id } = await add(one, { outbound })
  for (let time = 0; time < 3; time++) await connections.noteRegistration(id, false)
  await owned.change({ organizationId: one, test: false }, id, ({ connection, passwords }) => ({
    connection: { ...connection, status: 'unverified', outbound: { ...outbound, register: false } },
    passwords,
  }))
  await connections.noteAnswer(id, true)
  t.equal(await statusOf(one), 'ready')
})

t.test('a trunk that accepts the registration counts as answering, even if it ignores other requests', async (t) => {
  const { connections, one, add, statusOf } = await openConnections(t)
  const { id } = await add(one, { outbound })
  for (let time = 0; time < 3; time++) await connections.noteAnswer(id, false)
  t.equal(await statusOf(one), 'failing')
  await connections.noteRegistration(id, true)
  t.equal(await statusOf(one), 'ready')
})

t.test('an inbound-only connection becomes ready with its first call', async (t) => {
  const { connections, one, add, statusOf } = await openConnections(t)
  const { id } = await add(one)
  await connections.noteCall(id)
  t.equal(await statusOf(one), 'ready')
})

t.test('OPTIONS is sent only to trunks without a registration', async (t) => {
  const { connections, one, add } = await openConnections(t)
  await add(one, { outbound })
  await add(one)
  const { id } = await add(one, { outbound: { ...outbound, register: false } })
  t.same(
    (await connections.probed()).map((connection) => connection.id),
    [id],
  )
})

t.test('connection names are unique, and a connection with numbers cannot be removed', async (t) => {
  const { owned, one, other, add, number } = await openConnections(t)
  const { id, outcome } = await add(one, { name: 'Trunk' })
  t.equal(outcome, 'inserted')
  t.equal((await add(one, { name: 'Trunk' })).outcome, 'name_taken')
  t.equal((await add(other, { name: 'Trunk' })).outcome, 'inserted')
  t.equal((await add(one, { name: 'Trunk', test: true })).outcome, 'inserted')
  await add(one)
  await add(one)
  t.equal((await add(one)).outcome, 'limit_reached')
  const tenant = { organizationId: one, test: false }
  t.type(await number(one, id, '+493012345678'), 'object')
  t.equal(await number(one, id, '+493012345678'), 'exists')
  t.equal(await number(other, id, '+493012345678'), 'connection_unknown', 'that of another organization')
  t.equal(await number(one, 'x', '+493012345678'), 'connection_unknown')
  t.equal((await owned.list(tenant)).find((each) => each.id === id)?.numbers, 1)
  t.equal(await owned.remove(tenant, id), 'in_use')
  t.equal(await owned.remove({ ...tenant, test: true }, id), 'not_found')
  t.equal(await owned.remove({ organizationId: other, test: false }, id), 'not_found')
})
