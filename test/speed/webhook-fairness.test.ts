/** A webhook endpoint that accepts connections and never answers does not delay deliveries to other endpoints. */
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startServing } from '../process/serving-webhooks.ts'
import { makeDue } from '../webhooks/load.ts'
import { startReceiver } from '../webhooks/receiver.ts'

const queued = 1_000
const others = 10
const perSecond = 20
const seconds = 10
const p99MsMax = 2_000

t.test(`other endpoints get their events while ${queued} deliveries wait for a dead endpoint`, async (t) => {
  const serving = await startServing(t)
  const connections: { most: number; now: number } = { most: 0, now: 0 }
  const dead = createServer((socket) => {
    connections.most = Math.max(connections.most, ++connections.now)
    socket.on('close', () => connections.now--).on('error', () => {})
    t.teardown(() => socket.destroy())
  })
  await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve))
  t.teardown(() => dead.close())
  const address = dead.address()
  const deadUrl = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/hook`
  const atMs = new Map<string, number>()
  const receiver = await startReceiver((response, { path, headers }) => {
    atMs.set(`${path} ${String(headers['webhook-id'])}`, performance.now())
    response.writeHead(204).end()
  })
  t.teardown(() => receiver.close())

  const deadId = await serving.endpoint(deadUrl, { timeoutMs: 30_000 })
  const ids: string[] = []
  for (let made = 0; made < others; made++) ids.push(await serving.endpoint(`${receiver.url}/${made}`))
  for (let made = 0; made < queued; made++) await serving.emit([deadId], 3_600_000)
  await makeDue(serving.sql)
  while (connections.now === 0) await sleep(10)

  const emitted = new Map<string, number>()
  for (let made = 0; made < perSecond * seconds; made++) {
    const startedMs = performance.now()
    emitted.set(await serving.emit(ids), startedMs)
    await sleep(Math.max(0, 1000 / perSecond - (performance.now() - startedMs)))
  }
  const total = emitted.size * others
  for (let looks = 0; atMs.size < total && looks < 200; looks++) await sleep(100)
  t.equal(atMs.size, total)
  const waits = [...atMs].map(([key, ms]) => ms - (emitted.get(key.split(' ')[1] ?? '') ?? 0)).sort((a, b) => a - b)
  const p99 = waits[Math.ceil(waits.length * 0.99) - 1] ?? Number.NaN
  const p50 = waits[Math.floor(waits.length / 2)] ?? Number.NaN
  t.ok(p99 <= p99MsMax, `p99 ${p99.toFixed(0)} ms`)
  t.ok(connections.most > 1 && connections.most <= 40, `${connections.most} connections to the dead endpoint`)
  t.comment(
    `the others: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms; ${connections.most} attempts at the dead one`,
  )
})
