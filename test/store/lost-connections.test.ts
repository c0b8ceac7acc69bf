/** A connection that breaks while a transaction uses it. The next statements on the same connection get their own answers. */
import { once } from 'node:events'
import { createConnection, createServer, type Socket } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { connect } from '../../store/postgres/connect.ts'
import { TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

/** A pool of one connection, whose socket a test can break. */
async function breakable(t: Test) {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const postgres = createConnection(path.join(cluster.socketDir, '.s.PGSQL.5432'))
    sockets.add(client)
    client.on('close', () => postgres.destroy())
    postgres.on('close', () => client.destroy())
    for (const socket of [client, postgres]) socket.on('error', () => {})
    client.pipe(postgres).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const { pathname } = new URL(await cluster.database('empty'))
  const pools = connect({ databaseUrl: `postgres://parley@127.0.0.1:${port}${pathname}` }, 'breakable', 1)
  t.teardown(async () => {
    await Promise.all([pools.tenant.end({ timeout: 1 }), pools.system.end({ timeout: 1 })])
    server.close()
  })
  return { sql: pools.tenant, break: () => sockets.forEach((socket) => socket.resetAndDestroy()) }
}

const numbers = [1, 2, 3, 4]

t.test('a transaction whose socket is reset', async (t) => {
  const { sql, break: reset } = await breakable(t)
  t.equal((await sql<{ n: number }[]>`select 0::int as n`)[0]?.n, 0)
  const lost = sql.begin((tx) => tx`select pg_sleep(5)`)
  await sleep(100)
  reset()
  await t.rejects(lost)
  const rows = await Promise.all(numbers.map((n) => sql<{ n: number }[]>`select ${n}::int as n`))
  t.same(
    rows.map(([row]) => row?.n),
    numbers,
  )
  t.equal(await sql.begin(async (tx) => (await tx<{ n: number }[]>`select 5 as n`)[0]?.n), 5)
})

t.test('a transaction that goes on after its connection was lost runs nothing in the next one', async (t) => {
  const { sql, break: reset } = await breakable(t)
  let goOn = () => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  let late: unknown
  const lost = sql.begin(async (tx) => {
    await tx`select 1`
    await held
    late = await tx`select 'late'`.catch((error: unknown) => error)
  })
  await sleep(100)
  reset()
  await t.rejects(lost, { code: 'CONNECTION_CLOSED' })
  const ids = await sql.begin(async (tx) => {
    const first = await tx<{ id: string }[]>`select txid_current()::text as id`
    goOn()
    await sleep(100)
    const second = await tx<{ id: string }[]>`select txid_current()::text as id`
    return [first[0]?.id, second[0]?.id]
  })
  t.equal(ids[0], ids[1], 'one transaction from its begin to its end')
  t.match(late, { code: 'CONNECTION_CLOSED' })
})
