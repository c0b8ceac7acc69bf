import t from 'tap'
import { createLru } from '../../store/caches/lru.ts'
import { createBatcher } from '../../store/postgres/batch.ts'

const limits = { rowsMax: 4, gatherMs: 0, idleGatherMs: 0, queueMax: 10 }

t.test('rows of one tick are written in batches in their order, and each row gets its result', async (t) => {
  const batches: number[][] = []
  const batcher = createBatcher((rows: readonly number[]) => {
    batches.push([...rows])
    return Promise.resolve(rows.map((row) => row * 2))
  }, limits)
  t.same(await Promise.all([1, 2, 3, 4, 5, 6].map((row) => batcher.add(row))), [2, 4, 6, 8, 10, 12])
  t.same(batches, [
    [1, 2, 3, 4],
    [5, 6],
  ])
})

t.test('while one batch is written, new rows gather in the next batch', async (t) => {
  const batches: number[] = []
  let release = () => {}
  const batcher = createBatcher(async (rows: readonly number[]) => {
    batches.push(rows.length)
    await new Promise<void>((resolve) => {
      release = resolve
    })
    return rows
  }, limits)
  const first = batcher.add(1)
  await new Promise(setImmediate)
  const rest = [batcher.add(2)]
  await new Promise(setImmediate)
  rest.push(batcher.add(3))
  release()
  await first
  await new Promise(setImmediate)
  release()
  await Promise.all(rest)
  t.same(batches, [1, 2])
  await batcher.drain()
})

t.test('drain waits for earlier rows, and not for later rows', async (t) => {
  const written: number[] = []
  let isOver = false
  const batcher = createBatcher(
    async (rows: readonly number[]) => {
      await new Promise(setImmediate)
      written.push(...rows)
      // The result of each row adds another row.
      if (!isOver) batcher.post(written.length + 100)
      return rows
    },
    { ...limits, rowsMax: 2 },
  )
  await batcher.drain()
  for (const row of [1, 2, 3]) batcher.post(row)
  await batcher.drain()
  t.same(written.slice(0, 3), [1, 2, 3])
  isOver = true
  await batcher.drain()
})

t.test('a batch that fails rejects only its rows', async (t) => {
  const batcher = createBatcher(
    (rows: readonly number[]) => (rows.includes(1) ? Promise.reject(new Error('broken')) : Promise.resolve(rows)),
    limits,
  )
  const failed = [1, 2, 3, 4].map((row) => batcher.add(row))
  const fine = batcher.add(5)
  for (const one of failed) await t.rejects(one, /broken/)
  t.equal(await fine, 5)
})

t.test('a lost connection causes the fault store_unreachable', async (t) => {
  const cause = Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' })
  const batcher = createBatcher<number, number>(() => Promise.reject(cause), limits)
  await t.rejects(batcher.add(1), { name: 'Fault', kind: 'store_unreachable', cause })
})

t.test('a row is refused if the queue of a batch is full', async (t) => {
  const batcher = createBatcher((rows: readonly number[]) => Promise.resolve(rows), limits)
  const waiting = Array.from({ length: 10 }, (_, row) => batcher.add(row))
  await t.rejects(batcher.add(11), { name: 'Fault', kind: 'overloaded' })
  await Promise.all(waiting)
})

t.test('the cache drops the least recently used entry first', (t) => {
  const lru = createLru<number>(2)
  lru.set('a', 1)
  lru.set('b', 2)
  t.equal(lru.get('a'), 1)
  lru.set('c', 3)
  t.equal(lru.get('b'), undefined)
  t.equal(lru.get('a'), 1)
  lru.clear()
  t.equal(lru.get('a'), undefined)
  t.end()
})
