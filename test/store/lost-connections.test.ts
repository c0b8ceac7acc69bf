/** A connection breaks during a transaction. The next statements on the same connection get the right answers. */
import { once } from 'node:events'
import { createConnection, createServer, type Socket } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { connect } from '../../store/postgres/connect.ts'
import { TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}

/**
 * A pool with one connection. A test can break its socket. `sent` resolves when a statement with this text goes to
 * Postgres.
 */
async function breakable(t: Test) {
  const sockets = new Set<Socket>()
  const awaited = new Map<string, () => void>()
  const server = createServer((client) => {
    const postgres = createConnection(path.join(cluster.socketDir, '.s.PGSQL.5432'))
    sockets.add(client)
    client.on('close', () => postgres.destroy())
    postgres.on('close', () => client.destroy())
    client.on('data', (bytes) => {
      for (const [text, seen] of awaited) if (bytes.includes(text)) seen()
    })
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
  const sent = (text: string) => new Promise<void>((resolve) => awaited.set(text, resolve))
  return { sql: pools.tenant, sent, break: () => sockets.forEach((socket) => socket.resetAndDestroy()) }
}

const numbers = [1, 2, 3, 4]

t.test('if the socket of a transaction is reset, the transaction fails and the next statements work', async (t) => {
  const { sql, sent, break: reset } = await breakable(t)
  t.equal((await sql<{ n: number }[]>`select 0::int as n`)[0]?.n, 0)
  const sleeping = sent('pg_sleep')
  const lost = sql.begin((tx) => tx`select pg_sleep(5)`)
  await sleeping
  reset()
  await t.rejects(lost)
  const rows = await Promise.all(numbers.map((n) => sql<{ n: number }[]>`select ${n}::int as n`))
  t.same(
    rows.map(([row]) => row?.n),
    numbers,
  )
  t.equal(await sql.begin(async (tx) => (await tx<{ n: number }[]>`select 5 as n`)[0]?.n), 5)
})

t.test('a transaction that has lost its connection runs no statement in the next transaction', async (t) => {
  const { sql, break: reset } = await breakable(t)
  const [begun, held, ended] = [gate(), gate(), gate()]
  let late: unknown
  const lost = sql.begin(async (tx) => {
    await tx`select 1`
    begun.open()
    await held.opened
    late = await tx`select 'late'`.catch((error: unknown) => error)
    ended.open()
  })
  await begun.opened
  reset()
  await t.rejects(lost, { code: 'CONNECTION_CLOSED' })
  const ids = await sql.begin(async (tx) => {
    const first = await tx<{ id: string }[]>`select txid_current()::text as id`
    held.open()
    await ended.opened
    const second = await tx<{ id: string }[]>`select txid_current()::text as id`
    return [first[0]?.id, second[0]?.id]
  })
  t.equal(ids[0], ids[1], 'one transaction from its begin to its end')
  t.match(late, { code: 'CONNECTION_CLOSED' })
})

t.test('Postgres ends an idle transaction of a disconnected process and frees its locks', async (t) => {
  const { sql } = await breakable(t)
  const limits = await sql<{ name: string; ms: number }[]>`
    select name, setting::int as ms from pg_settings where name = 'idle_in_transaction_session_timeout'`
  t.same(limits, [{ name: 'idle_in_transaction_session_timeout', ms: 10_000 }])
  const lost = sql.begin(async (tx) => {
    await tx`select set_config('idle_in_transaction_session_timeout', '20', true), pg_advisory_xact_lock(1)`
    await new Promise(() => {})
  })
  await t.rejects(lost, { code: 'CONNECTION_CLOSED' })
  const [row] = await sql<{ isFree: boolean }[]>`select pg_try_advisory_lock(1) as "isFree"`
  t.ok(row?.isFree)
})
