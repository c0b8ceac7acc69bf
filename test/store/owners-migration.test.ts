/** Users get the roles of schema version 50, and the previous version goes on with the roles that it knows. */
import t from 'tap'
import { migrations } from '../../store/migrations/list.ts'
import { applyMigrations, migrate } from '../../store/migrations/migrate.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
import { TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

/** The users in schema 48, in the order in which they got their roles. */
const before = {
  org_both: ['member', 'admin', 'admin'],
  org_members: ['member', 'member'],
  org_admin: ['admin'],
  org_keys: [],
} as const
const after = {
  org_both: ['member', 'owner', 'owner'],
  org_members: ['owner', 'member'],
  org_admin: ['owner'],
  org_keys: [],
} as const

t.test('after the migration every organization with users has an owner, and no user has lost rights', async (t) => {
  const url = await cluster.database('empty')
  const database = new URL(url).pathname.slice(1)
  // The server's role owns the tables, and row level security binds it.
  const server = connectOnce({ socketDir: cluster.socketDir, role: 'parley', database }, 'migration')
  t.teardown(() => server.end({ timeout: 1 }))
  await server.begin((tx) => applyMigrations(tx, 48, () => {}, migrations))
  const sql = cluster.sql(t, url)
  const at = (second: number) => new Date(Date.UTC(2026, 10, 1, 12, 0, second))
  for (const [id, held] of Object.entries(before)) {
    await sql`insert into organizations (id, name, created_at) values (${id}, ${id}, ${at(0)})`
    for (const [index, role] of held.entries()) {
      const user = `usr_${id}_${9 - index}`
      await sql`insert into users (id, email, created_at) values (${user}, ${`${user}@example.com`}, ${at(0)})`
      await sql`
        insert into user_roles (organization_id, user_id, role, created_at) values (${id}, ${user}, ${role}, ${at(index)})`
    }
  }
  await migrate(server, () => {})

  const store = await cluster.store(t, url)
  for (const [id, wanted] of Object.entries(after)) {
    const users = await store.users.list(id)
    t.same(
      users.toSorted((a, b) => b.id.localeCompare(a.id)).map(({ role }) => role),
      wanted,
      id,
    )
    const rows = await sql<{ role: string }[]>`
      select role from user_roles where organization_id = ${id} order by user_id desc`
    t.same(
      rows.map(({ role }) => role),
      before[id as keyof typeof before],
      `${id}: the version before sees what it stored`,
    )
  }
  await sql`update user_roles set role = 'member' where organization_id = 'org_admin'`
  t.match(await store.users.list('org_admin'), [{ role: 'member' }], 'the version before can take an ownership away')
})
