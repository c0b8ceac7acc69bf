/**
 * Tests rows for agents and tools: row level security hides other organizations' rows, and test rows from live keys,
 * and secrets are sealed.
 */
import t from 'tap'
import { SealError } from '../../domain/access/seal-error.ts'
import type { Agent } from '../../domain/records/agent.ts'
import type { StoredTool, Tool, ToolSecrets } from '../../domain/records/tool.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const times = { createdAtMs: 1_700_000_000_000, updatedAtMs: 1_700_000_000_000 }
const by = { type: 'api_key', id: 'key_1' } as const
const secrets: ToolSecrets = { secret: 'k4n4ry', authHeaders: { 'x-key': 'k4n4ry' } }

function agentOf(organizationId: string, test: boolean): Agent {
  const settings = { name: 'Agent', systemPrompt: 'Be brief.', intent: { language: 'en' } }
  return { id: systemIds.agent(), organizationId, test, settings, webhooks: {}, version: 1, ...times }
}

function toolOf({ id: agentId, organizationId, test }: Agent): StoredTool {
  const unset = { headers: null, timeoutMs: null, responseMode: null, asyncAck: null }
  const source = {
    kind: 'webhook' as const,
    url: 'https://a.example',
    hasSecret: true,
    authHeaders: ['x-key'],
    ...unset,
  }
  const owner = { id: systemIds.tool(), organizationId, test, agentId }
  return {
    tool: { ...owner, name: 'tool', description: 'd', parameters: null, source, preToolSpeech: null, ...times },
    secrets,
  }
}

const masterKeys = (current: string, ...previous: string[]) => ({
  masterKeys: () => ({ current: current.repeat(32), previous: previous.map((letter) => letter.repeat(32)) }),
})

t.test("row level security limits an unfiltered query to an organization's live or test rows", async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const [a, b] = [await organization(store, 'a'), await organization(store, 'b')]
  for (const owner of [a.id, b.id])
    for (const test of [true, false]) {
      const agent = agentOf(owner, test)
      t.equal(await store.agents.insert(agent, [], 10, by), 'inserted')
      t.equal(await store.tools.insert(toolOf(agent), 10, by), 'inserted')
    }
  const host = new URL(url).searchParams.get('host') ?? ''
  const database = new URL(url).pathname.slice(1)
  const sql = connectOnce({ socketDir: host, role: 'parley', database }, 'policy')
  t.teardown(() => sql.end({ timeout: 1 }))
  const seen = (id: string | null, world: string | null) =>
    sql.begin(async (tx) => {
      if (id !== null) await tx`select set_config('app.organization', ${id}, true)`
      if (world !== null) await tx`select set_config('app.world', ${world}, true)`
      const rows = await tx<{ owner: string; test: boolean }[]>`
        select organization_id as owner, test from agents union all select organization_id, test from agent_tools`
      return [
        ...new Set(rows.map(({ owner, test }) => `${owner === a.id ? 'a' : 'b'} ${test ? 'test' : 'live'}`)),
      ].sort()
    })
  t.same(await seen(a.id, 'live'), ['a live'])
  t.same(await seen(a.id, 'test'), ['a test'])
  t.same(await seen(b.id, 'test'), ['b test'])
  t.same(await seen('*', '*'), ['a live', 'a test', 'b live', 'b test'])
  for (const [id, world] of [
    [null, null],
    [a.id, null],
    [null, 'live'],
    [a.id, ''],
    ['', 'live'],
  ] as const)
    t.same(await seen(id, world), [], `${id} ${world}`)
  await t.rejects(
    sql.begin(async (tx) => {
      await tx`select set_config('app.organization', ${a.id}, true), set_config('app.world', 'live', true)`
      await tx`update agents set test = true where organization_id = ${a.id}`
    }),
    /row-level security/,
    'a row cannot be moved to the other world',
  )
})

t.test('sealed secrets can be opened only for their tool, and sealed again with a new master key', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url, { ...masterKeys('a'), serves: false })
  const { id } = await organization(store, 'a')
  const agent = agentOf(id, true)
  await store.agents.insert(agent, [], 10, by)
  const [one, two] = [toolOf(agent), toolOf(agent)]
  two.tool.name = 'two'
  for (const tool of [one, two]) await store.tools.insert(tool, 10, by)
  const opened = async (from: typeof store, tool: StoredTool) => {
    let found: ToolSecrets | null = null
    const read = (stored: Tool, secrets: () => ToolSecrets) => {
      found = secrets()
      return { tool: stored, secrets: 'kept' as const }
    }
    await from.tools.change(agent, agent.id, tool.tool.id, read, by)
    return found as ToolSecrets | null
  }
  t.same(await opened(store, one), secrets)

  const sql = cluster.sql(t, url)
  await sql`update agent_tools t set sealed = o.sealed, sealed_by = o.sealed_by, secrets_id = o.secrets_id
    from agent_tools o where t.id = ${two.tool.id} and o.id = ${one.tool.id}`
  await t.rejects(opened(store, two), SealError, 'those of another tool do not open')

  const moving = await cluster.store(t, url, { ...masterKeys('b', 'a'), serves: false })
  t.equal(await moving.sealedSecrets.unreadable(), 0)
  t.same(await moving.sealedSecrets.reseal(), { resealed: 1, failed: 1 })
  const after = await cluster.store(t, url, { ...masterKeys('b'), serves: false })
  t.equal(await after.sealedSecrets.unreadable(), 1)
  t.same(await opened(after, one), secrets)
})
