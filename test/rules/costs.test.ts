/** The costs page shows the recorded measurements, and its model computes as the page describes. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { figure, type RecordedCosts, withTables } from '../../bench/cost-page.ts'
import type { Counts } from '../../bench/counts.ts'
import { demandOf, setupOf } from '../../bench/model.ts'

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

t.test('the tables in docs/costs.md equal the tables computed from bench/unit-costs.json', (t) => {
  const recorded = JSON.parse(read('bench/unit-costs.json')) as RecordedCosts
  const page = read('docs/costs.md')
  t.equal(page, withTables(page, recorded), '`npx tsx bench/main.ts model` measures and writes the page')
  t.throws(() => withTables('no tables', recorded))
  t.end()
})

t.test('the cost model multiplies units by their costs and adds the costs of idle nodes', (t) => {
  const nothing: Counts = {
    ...{ nodeCpuMs: 0, childCpuMs: 0, postgresCpuMs: 0, transactions: 0, rowsWritten: 0, rowsKept: 0 },
    ...{ storedBytes: 0, walBytes: 0, redisCommands: 0, networkBytes: 0 },
  }
  const costs = {
    request: { ...nothing, nodeCpuMs: 1, postgresCpuMs: 2, rowsKept: 3, storedBytes: 1_000, networkBytes: 500 },
    minute: { ...nothing, nodeCpuMs: 10, childCpuMs: 5, rowsKept: 2, redisCommands: 1, networkBytes: 1_000 },
    call: { ...nothing, nodeCpuMs: 20, transactions: 4, walBytes: 8, storedBytes: 100 },
    idleSecond: { ...nothing, transactions: 5, redisCommands: 2 },
    callMemoryBytes: 1_000,
    minuteRecordedBytes: 7,
  }
  const load = {
    ...{ organizations: 1, callsADay: 36_000, minutesACall: 2, requestsADay: 360_000, busiestHour: 0.1 },
    ...{ coresANode: 1, nodeUse: 0.5, retentionDays: 10 },
  }
  // In the busiest hour 1 call, 2 call minutes and 10 requests come per second. They take 1 × 20 + 2 × (10 + 5) +
  // 10 × 1 = 60 ms of processor time.
  t.strictSame(demandOf(costs, load), {
    ...{ callsASecond: 1, liveCalls: 120, requestsASecond: 10, nodeCores: 0.06, nodes: 2 },
    ...{ callMemoryBytesANode: 60_000, postgresCores: 0.02, transactionsASecond: 14, rowsWrittenASecond: 0 },
    ...{ walBytesASecond: 8, redisCommandsASecond: 6, networkBitsASecond: 56_000 },
    ...{ rowsADay: 1_224_000, storedBytesADay: 363_600_000, storedBytesRetained: 3_636_000_000 },
    ...{ recordedBytesRetained: 5_040_000 },
  })
  // The server takes 50 ms. A process may use 500 ms of processor time in a second, and one node may fail.
  const setup = { callsACore: 6_000, liveCallsANode: 120, processesANode: 1, postgresConnections: 22 }
  t.strictSame(setupOf(costs, load), setup)
  t.same([0, 0.0004, 0.012345, 12.34, 1_234_567].map(figure), ['0', '0', '0.0123', '12.3', '1,230,000'])
  t.end()
})
