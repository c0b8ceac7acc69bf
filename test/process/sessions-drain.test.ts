/** Tests the end of a process with live voice sessions. */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { call, loopbackProviders, Page, startSession } from '../session/voice-session.ts'
import { TestCluster } from '../store/cluster.ts'
import { type Running, startParley } from './parley.ts'

const env = { PARLEY_PROVIDERS: loopbackProviders, PARLEY_MASTER_KEY: 'm'.repeat(32), PARLEY_DRAIN_GRACE_MS: '100' }
const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

async function node(t: Test, databaseUrl: string, more: Record<string, string> = {}): Promise<Running> {
  const parley = await startParley({ ...env, DATABASE_URL: databaseUrl, ...more })
  t.teardown(() => parley.remove())
  return parley
}

/** Returns the session's record, which another process that starts afterwards reads. */
async function recordOf(t: Test, databaseUrl: string, id: string): Promise<Record<string, unknown>> {
  return (await call(await node(t, databaseUrl), `/v1/calls/${id}`)).json
}

t.test('SIGTERM lets sessions go on for drain.sessionsMs, then ends them and stores their end', async (t) => {
  const databaseUrl = await cluster.database('empty')
  const parley = await node(t, databaseUrl, { PARLEY_DRAIN_SESSIONS_MS: '8000' })
  const page = await Page.join(parley)
  const queued = await startSession(parley)
  const startedMs = performance.now()
  const ended = parley.stop()
  await sleep(1000)
  await page.ask('do you still answer')
  const late = new Page(queued)
  await t.rejects(late.first('ready'), 'a session is not begun any more')
  t.match(await page.first('end', 40_000), { reason: 'server_shutdown' })
  t.match(page.all('error').at(-1), { code: 'SHUTTING_DOWN' })
  t.equal(await ended, 0)
  const tookMs = performance.now() - startedMs
  t.ok(tookMs > 7900 && tookMs < 30_000, `${Math.round(tookMs)} ms`)
  t.match(await recordOf(t, databaseUrl, page.id), { status: 'failed', end_reason: 'server_shutdown' })
})

t.test('if the last session ends by itself, the drain ends', async (t) => {
  const parley = await node(t, await cluster.database('empty'), { PARLEY_DRAIN_SESSIONS_MS: '60000' })
  const page = await Page.join(parley)
  const ended = parley.stop()
  await sleep(500)
  const startedMs = performance.now()
  page.send({ type: 'end' })
  t.match(await page.first('end'), { reason: 'user_hangup' })
  t.equal(await ended, 0)
  t.ok(performance.now() - startedMs < 30_000, 'the drain does not wait the whole 60 s')
})

t.test('Ctrl-C twice ends live sessions at once, and stores their end', async (t) => {
  const databaseUrl = await cluster.database('empty')
  const parley = await node(t, databaseUrl, { PARLEY_DRAIN_SESSIONS_MS: '60000' })
  const page = await Page.join(parley)
  const startedMs = performance.now()
  process.kill(parley.pid, 'SIGINT')
  await sleep(300)
  process.kill(parley.pid, 'SIGINT')
  t.equal(await parley.ended, 0)
  t.ok(performance.now() - startedMs < 30_000, 'the drain does not wait the whole 60 s')
  t.match(page.all('end'), [{ reason: 'server_shutdown' }])
  t.match(await recordOf(t, databaseUrl, page.id), { status: 'failed', end_reason: 'server_shutdown' })
})
