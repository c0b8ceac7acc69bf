/**
 * Tests how an outage of the database is tracked, without a database: work is refused, and a probe or a response ends
 * the outage.
 */
import { once } from 'node:events'
import t, { type Test } from 'tap'
import type { Sql } from '../../store/postgres/connect.ts'
import { inTime, Outage, watchFor } from '../../store/postgres/outage.ts'
import { asFault } from '../../store/postgres/unavailable.ts'
import { undoneWrites } from '../../store/postgres/undone.ts'

const clock = { monotonicMs: () => 0 }
const refusal = { name: 'Fault', kind: 'store_unreachable', detail: { retryAfterS: 1 } }

/** A promise that the test settles. */
function open<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<T>((resolved, rejected) => {
    resolve = resolved
    reject = rejected
  })
  return { promise, resolve, reject }
}

function watched(t: Test) {
  const probes: ReturnType<typeof open<void>>[] = []
  const changes: boolean[] = []
  const events = new EventTarget()
  const outage = new Outage({
    deadlineMs: 200,
    probe() {
      const probe = open<void>()
      probes.push(probe)
      events.dispatchEvent(new Event('probe'))
      return probe.promise
    },
    changed(isAway) {
      changes.push(isAway)
      events.dispatchEvent(new Event('changed'))
    },
  })
  t.teardown(() => outage.close())
  // The outage's timers do not keep a process alive, so this timer does.
  const alive = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(alive))
  const sql = {} as Sql
  watchFor(outage, [sql])
  return { outage, sql, probes, changes, next: (event: 'probe' | 'changed') => once(events, event) }
}

t.test('database work without an answer is refused, and no work begins until a probe succeeds', async (t) => {
  const { outage, probes, changes, next } = watched(t)
  const probe = next('probe')
  const silent = outage.run({ run: () => new Promise(() => {}) })
  await probe
  await t.rejects(silent, refusal)
  t.same(changes, [true])
  let begun = 0
  const work = { run: () => Promise.resolve((begun += 1)) }
  await t.rejects(outage.run(work), refusal)
  t.equal(begun, 0, 'refused without a statement')
  let returns = 0
  outage.onReturn(() => (returns += 1))
  const back = next('changed')
  probes[0]?.resolve()
  await back
  t.equal(await outage.run(work), 1)
  t.same([changes, returns], [[true, false], 1])
})

t.test('if a probe has no answer for a second, the next probe follows at once', async (t) => {
  const { outage, probes, next } = watched(t)
  // An interval like the outage's. On a busy machine both miss the same ticks.
  let ticks = 0
  const counting = setInterval(() => (ticks += 1), 10)
  t.teardown(() => clearInterval(counting))
  await t.rejects(outage.run({ run: () => new Promise(() => {}) }), refusal)
  while (ticks < 150) await new Promise((resolve) => setImmediate(resolve))
  const again = next('probe')
  const before = ticks
  probes[0]?.reject(new Error('no answer'))
  await again
  t.ok(ticks - before < 20, `${ticks - before} ticks`)
})

t.test('slow database work is not refused while the database answers probes', async (t) => {
  const { outage, probes, changes, next } = watched(t)
  const slow = open<string>()
  const answer = outage.run({ run: () => slow.promise })
  for (let count = 0; count < 2; count += 1) {
    await next('probe')
    probes[count]?.resolve()
  }
  slow.resolve('done')
  t.equal(await answer, 'done')
  t.same(changes, [])
})

t.test('a batch is refused at its deadline, even if the database answers other work', async (t) => {
  const { sql, probes, changes, next } = watched(t)
  const slow = open<string>()
  const late = open<void>()
  const batch = inTime(sql, () => slow.promise, late.resolve)
  await next('probe')
  probes[0]?.resolve()
  await t.rejects(batch, refusal)
  t.same(changes, [])
  slow.resolve('done')
  await late.promise
})

t.test('a lost connection causes a probe at once, and an error from Postgres causes no probe', async (t) => {
  const { outage, probes } = watched(t)
  const full = Object.assign(new Error('full'), { code: '53100', severity: 'ERROR' })
  await t.rejects(outage.run({ run: () => Promise.reject(full) }), { ...refusal, cause: full })
  t.equal(probes.length, 0)
  const lost = Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' })
  await t.rejects(outage.run({ run: () => Promise.reject(lost) }), refusal)
  t.equal(probes.length, 1)
})

t.test('a late answer of the database to refused work ends the outage', async (t) => {
  const { outage, changes, next } = watched(t)
  const frozen = open<string>()
  await t.rejects(outage.run({ run: () => frozen.promise }), refusal)
  const back = next('changed')
  frozen.resolve('late')
  await back
  t.same(changes, [true, false])
})

t.test('a refused write that the database completes later is undone', async (t) => {
  const { sql } = watched(t)
  const undone = open<readonly string[]>()
  const writes = undoneWrites(
    sql,
    clock,
    (row: string) => row,
    (rows) => Promise.resolve(undone.resolve(rows)),
  )
  const frozen = open<string>()
  await t.rejects(
    writes.write(['a', 'b'], () => frozen.promise),
    refusal,
  )
  frozen.resolve('written after all')
  t.same(await undone.promise, ['a', 'b'])
})

t.test('rows that cannot be undone during an outage are undone when the database returns', async (t) => {
  const { sql, outage, next } = watched(t)
  const undone: string[][] = []
  const writes = undoneWrites(
    sql,
    clock,
    (row: string) => row,
    (rows) => Promise.resolve(undone.push([...rows])),
  )
  const frozen = open<string>()
  await t.rejects(outage.run({ run: () => frozen.promise }), refusal)
  await t.rejects(writes.undo(['a']), refusal)
  t.same(undone, [])
  const back = next('changed')
  frozen.resolve('late')
  await back
  await writes.run()
  t.same(undone, [['a']])
})

t.test('the undo of each row is repeated until the undo succeeds for this row', async (t) => {
  const { sql } = watched(t)
  const undone: string[] = []
  const refused = new Set(['300'])
  const writes = undoneWrites(
    sql,
    clock,
    (row: string) => row,
    (rows) => {
      if (rows.some((row) => refused.has(row))) return Promise.reject(new Error('no'))
      return Promise.resolve(undone.push(...rows))
    },
  )
  const rows = Array.from({ length: 301 }, (_, row) => String(row))
  const full = Object.assign(new Error('full'), { code: '53100', severity: 'ERROR' })
  await t.rejects(
    writes.write(rows, () => Promise.reject(full)),
    refusal,
  )
  await t.rejects(writes.run(), /no/)
  t.same(undone, rows.slice(0, 256))
  refused.clear()
  await writes.run()
  t.same(undone, rows)
  await writes.run()
  t.equal(undone.length, rows.length)
})

t.test('a write that has lost its connection may take effect later, so it is undone twice', async (t) => {
  const { sql } = watched(t)
  const undone: string[] = []
  let nowMs = 0
  const writes = undoneWrites(
    sql,
    { monotonicMs: () => nowMs },
    (row: string) => row,
    (rows) => Promise.resolve(undone.push(...rows)),
  )
  const lost = Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' })
  await t.rejects(
    writes.write(['a'], () => Promise.reject(lost)),
    refusal,
  )
  await writes.run()
  t.same(undone, ['a'])
  for (const later of [9_999, 10_000, 30_000]) {
    nowMs = later
    await writes.run()
    t.same(undone, later < 10_000 ? ['a'] : ['a', 'a'])
  }
})

t.test('an unknown host name or a missing route counts as an unreachable database', (t) => {
  for (const code of ['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])
    t.match(asFault(Object.assign(new Error(code), { code })), refusal, code)
  t.end()
})
