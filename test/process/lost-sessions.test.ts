/** If a process is killed, another process or the next start ends its voice sessions, with events and a call report. */
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { call, loopbackProviders, Page, startSession } from '../session/voice-session.ts'
import { TestCluster } from '../store/cluster.ts'
import { until } from './machine.ts'
import { type Running, startParley } from './parley.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const env = {
  PARLEY_PROVIDERS: loopbackProviders,
  PARLEY_MASTER_KEY: 'm'.repeat(32),
  PARLEY_IDEMPOTENCY_LEASE_MS: '3000',
}
/** The lease time, two searches for lost sessions, and one minute more for a busy machine. */
const endedWithinMs = 3000 + 2 * 3000 + 60_000
/** The time for one check in which a process compares its calls with the database, and 30 s more for a busy machine. */
const endsWithinMs = 2000 + 30_000

async function node(t: Test, databaseUrl: string, dataDir?: string): Promise<Running> {
  const parley = await startParley({ ...env, DATABASE_URL: databaseUrl }, dataDir)
  t.teardown(() => parley.remove())
  return parley
}

const fileOf = (parley: Running, id: string) => path.join(parley.dataDir, `recordings/${id}.wav`)

/** Waits until the recording has been written to its file at least once. */
async function flushed(parley: Running, id: string): Promise<void> {
  const file = fileOf(parley, id)
  await until('a part of the recording is in its file', () => existsSync(file) && statSync(file).size > 1000)
}

const wholeCall = async (parley: Running, id: string) => (await call(parley, `/v1/calls/${id}`)).json

async function ended(parley: Running, id: string): Promise<Record<string, unknown>> {
  await until(
    'the call has ended',
    async () => typeof (await wholeCall(parley, id))['ended_at'] === 'string',
    endedWithinMs,
  )
  return wholeCall(parley, id)
}

t.test("a process ends the sessions of a killed process, and on API request a live process's session", async (t) => {
  const databaseUrl = await cluster.database('empty')
  const first = await node(t, databaseUrl)
  const second = await node(t, databaseUrl)

  const asked = await Page.join(first)
  t.match(await call(second, `/v1/calls/${asked.id}/end`, {}), { status: 200, json: { ok: true, status: 'ending' } })
  t.match(await asked.first('end'), { reason: 'api_ended' })
  await ended(second, asked.id)
  t.match(await call(second, `/v1/calls/${asked.id}/end`, {}), {
    status: 200,
    json: { ok: true, status: 'already_ended', ended_at: String },
  })
  const queued = await startSession(first)
  t.match(await call(second, `/v1/calls/${queued.sessionId}/end`, {}), { json: { status: 'ending' } })
  t.match(await wholeCall(first, queued.sessionId), { status: 'cancelled' })
  for (const id of ['01a20423-4dc5-778d-a9bc-3d5ba3a91620', 'x'])
    t.match(await call(second, `/v1/calls/${id}/end`, {}), { status: 404, json: { code: 'NOT_FOUND' } })

  const pages = [await Page.join(first), await Page.join(first)]
  await pages[0]?.ask('please remember this')
  await flushed(first, pages[0]?.id ?? '')
  await first.kill()
  for (const { id } of pages) {
    t.match(await ended(second, id), {
      status: 'failed',
      end_reason: 'worker_lost',
      recording_status: 'failed',
      duration_seconds: Number,
    })
    const { json } = await call(second, `/v1/calls/${id}/events`)
    const events = (json['events'] as { event_type: string }[]).map(({ event_type }) => event_type)
    t.match(events.filter((type) => type === 'call.failed').length, 1)
    t.ok(events.includes('recording.failed'), events.join())
    t.match(await call(second, `/v1/calls/${id}/report`), { status: 200, json: { outcome: 'failed' } })
  }
  const transcript = await call(second, `/v1/sessions/${pages[0]?.id}/transcript`)
  t.match(transcript.json, { entries: [{ source: 'user', text: 'please remember this' }, { source: 'agent' }] })
})

t.test('the next start ends the sessions of a killed process, and stores their recordings so far', async (t) => {
  const databaseUrl = await cluster.database('empty')
  const killed = await node(t, databaseUrl)
  const page = await Page.join(killed)
  await page.ask('please remember this')
  await flushed(killed, page.id)
  await killed.kill()
  const next = await node(t, databaseUrl, killed.dataDir)
  const { recording_duration_ms: durationMs, ...rest } = await ended(next, page.id)
  t.match(rest, { status: 'failed', end_reason: 'worker_lost', recording_status: 'ready' })
  t.ok((durationMs as number) > 1000, `${String(durationMs)} ms`)
  const audio = await fetch(`${next.url}/v1/calls/${page.id}/recording/audio`, {
    headers: { authorization: `Bearer ${next.key}` },
  })
  t.equal(audio.status, 200)
  const bytes = Buffer.from(await audio.arrayBuffer())
  t.equal(bytes.readUInt32LE(40), bytes.length - 44, 'the header says how long it is')
  t.equal(Math.round((bytes.length - 44) / 64), durationMs)
})

t.test('a resumed process closes the sockets of sessions that were ended during its pause', async (t) => {
  const databaseUrl = await cluster.database('empty')
  const owner = await node(t, databaseUrl)
  const other = await node(t, databaseUrl)
  const pages = [await Page.join(owner), await Page.join(owner)]
  await pages[0]?.ask('before it stands still')
  process.kill(owner.pid, 'SIGSTOP')
  t.teardown(() => process.kill(owner.pid, 'SIGCONT'))
  for (const { id } of pages) t.match(await ended(other, id), { status: 'failed', end_reason: 'worker_lost' })
  pages[0]?.send({ type: 'user_message', text: 'is anybody there?' })
  process.kill(owner.pid, 'SIGCONT')
  for (const page of pages) {
    await until('the socket has closed', () => page.closed !== null, endsWithinMs)
    t.equal(page.closed, 1000)
    t.match(page.all('end'), [{ reason: 'worker_lost' }])
    const { json } = await call(other, `/v1/calls/${page.id}/events`)
    const ends = (json['events'] as { event_type: string }[]).filter(({ event_type }) => event_type === 'call.failed')
    t.equal(ends.length, 1)
    t.match(await wholeCall(owner, page.id), { status: 'failed', end_reason: 'worker_lost', report: { version: 1 } })
  }
  await (await Page.join(owner)).ask('it serves on')
})
