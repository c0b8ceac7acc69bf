/** Postgres is killed while events are stored and delivered. */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startReceiver } from '../webhooks/receiver.ts'
import { isFullSize } from '../webhooks/served.ts'
import { openDatabase, postgresPid } from './database.ts'
import { startServing } from './serving-webhooks.ts'

const kills = isFullSize ? 5 : 1
const writers = 4
const backMs = 2_000

t.test(`if Postgres is killed ${kills} times, no stored event is lost`, async (t) => {
  const serving = await startServing(t)
  const { dataDir } = serving.parley
  const atMs = new Map<string, number>()
  const receiver = await startReceiver((response, { headers }) => {
    atMs.set(String(headers['webhook-id']), performance.now())
    response.writeHead(204).end()
  })
  t.teardown(() => receiver.close())
  const endpoint = await serving.endpoint(receiver.url)
  const stored: string[] = []
  const load = { isOver: false, refused: 0 }
  const write = async () => {
    while (!load.isOver) {
      try {
        stored.push(await serving.emit([endpoint]))
      } catch {
        load.refused++
      }
      await sleep(5)
    }
  }
  const writing = Promise.all(Array.from({ length: writers }, write))
  for (let killed = 0; killed < kills; killed++) {
    await sleep(1_500)
    const pid = postgresPid(dataDir)
    t.not(pid, null)
    process.kill(pid ?? 0, 'SIGKILL')
    await untilAnother(dataDir, pid)
    const returnedMs = await untilItAnswers(dataDir)
    const before = stored.length
    while (![...stored.slice(before)].some((id) => atMs.has(id)) && performance.now() - returnedMs < 30_000)
      await sleep(10)
    const servingMs = Math.min(...stored.slice(before).flatMap((id) => atMs.get(id) ?? [])) - returnedMs
    t.ok(servingMs < backMs, `new events were delivered ${servingMs.toFixed(0)} ms after Postgres came back`)
    t.comment(`delivering ${servingMs.toFixed(0)} ms after the return of Postgres`)
  }
  await sleep(500)
  load.isOver = true
  await writing
  t.ok(load.refused > 0, 'the kill met writes')
  const startedMs = performance.now()
  const missing = () => stored.filter((id) => !atMs.has(id))
  while (missing().length > 0 && performance.now() - startedMs < 60_000) await sleep(50)
  t.same(missing(), [], `${stored.length} events were acknowledged, and each was delivered`)
  t.comment(`${stored.length} events acknowledged, 0 lost, ${load.refused} refused`)
})

async function untilAnother(dataDir: string, pid: number | null): Promise<void> {
  for (let now = pid; now === pid || now === null; now = postgresPid(dataDir)) await sleep(10)
}

/** Waits until Postgres answers a new connection. Returns the time. */
async function untilItAnswers(dataDir: string): Promise<number> {
  for (;;) {
    const sql = openDatabase(dataDir)
    try {
      await sql`select 1`
      return performance.now()
    } catch {
      await sleep(10)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
}
