/**
 * The tables in docs/costs.md, between two marker lines. test/rules/costs.test.ts compares the page with the recorded
 * measures.
 */
import type { Counts } from './counts.ts'
import { connectionsAProcess, demandOf, type Load, modelLoad, setupOf, type UnitCosts } from './model.ts'

export type RecordedCosts = { measuredAt: string; machine: string; hasRedis: boolean; costs: UnitCosts }

const [first, last] = ['<!-- measured: begin -->', '<!-- measured: end -->']

/** Returns the page with the recorded costs as tables between its two marker lines. */
export function withTables(page: string, recorded: RecordedCosts): string {
  const [from, to] = [page.indexOf(first), page.indexOf(last)]
  if (from < 0 || to < from) throw new Error(`the page lacks ${first} or ${last}`)
  return `${page.slice(0, from + first.length)}\n${tablesOf(recorded)}\n${page.slice(to)}`
}

function tablesOf({ measuredAt, machine, hasRedis, costs }: RecordedCosts): string {
  return [
    `Measured on ${measuredAt}, ${machine}${hasRedis ? '' : ', without a server of Redis: limits are rows of Postgres'}.`,
    '',
    '| | a request | a minute of a call | a call, besides | a node, each second |',
    '|---|---:|---:|---:|---:|',
    ...unitRows(costs, hasRedis),
    '',
    `A live call holds ${figure(costs.callMemoryBytes / 1024)} KiB of its node, and a minute of it is ${figure(costs.minuteRecordedBytes / 2 ** 20)} MiB of recording. ${figure(setupOf(costs, modelLoad).callsACore)} live calls fill the one core on which a process runs.`,
    '',
    '## The model',
    '',
    ...modelRows(costs, modelLoad, hasRedis),
  ].join('\n')
}

function unitRows({ request, minute, call, idleSecond }: UnitCosts, hasRedis: boolean): string[] {
  const ofLoad = (of: (counts: Counts) => number) => [request, minute, call].map((counts) => figure(of(counts)))
  const row = (name: string, of: (counts: Counts) => number) =>
    `| ${[name, ...ofLoad(of), figure(of(idleSecond))].join(' | ')} |`
  // An idle node keeps no rows, so the table has no idle figure. An idle node's counts would include the statistics
  // rows that Postgres writes after a load.
  const rowOfLoad = (name: string, of: (counts: Counts) => number) => `| ${[name, ...ofLoad(of), '–'].join(' | ')} |`
  return [
    row('processor of the node, ms', ({ nodeCpuMs }) => nodeCpuMs),
    row('of its children (voice activity detection), ms', ({ childCpuMs }) => childCpuMs),
    row('of Postgres, ms', ({ postgresCpuMs }) => postgresCpuMs),
    row('transactions', ({ transactions }) => transactions),
    row('rows written (also changed and deleted)', ({ rowsWritten }) => rowsWritten),
    rowOfLoad('rows that stay', ({ rowsKept }) => rowsKept),
    rowOfLoad('tables and indexes, KiB', ({ storedBytes }) => storedBytes / 1024),
    row('write-ahead log, KiB', ({ walBytes }) => walBytes / 1024),
    ...(hasRedis ? [row('commands of Redis', ({ redisCommands }) => redisCommands)] : []),
    row('network of the node, KiB', ({ networkBytes }) => networkBytes / 1024),
  ]
}

function modelRows(costs: UnitCosts, load: Load, hasRedis: boolean): string[] {
  const demand = demandOf(costs, load)
  const setup = setupOf(costs, load)
  const gib = 2 ** 30
  return [
    `${figure(load.organizations)} organizations with ${figure(load.callsADay)} calls a day of ${load.minutesACall} minutes, and ${figure(load.requestsADay)} requests besides. ${figure(load.busiestHour * 100)} % of a day come in its busiest hour.`,
    '',
    '| | |',
    '|---|---:|',
    `| calls that begin, a second | ${figure(demand.callsASecond)} |`,
    `| live calls | ${figure(demand.liveCalls)} |`,
    `| requests besides, a second | ${figure(demand.requestsASecond)} |`,
    `| cores of the nodes | ${figure(demand.nodeCores)} |`,
    `| nodes of ${load.coresANode} cores, ${figure(load.nodeUse * 100)} % used, and one more | ${figure(demand.nodes)} |`,
    `| live calls of a node while another is away | ${figure(setup.liveCallsANode)} |`,
    `| processes of a node (\`PARLEY_PROCESSES\`), ${figure(load.nodeUse * 100)} % of a core each | ${figure(setup.processesANode)} |`,
    `| connections to Postgres, ${connectionsAProcess} a process | ${figure(setup.postgresConnections)} |`,
    `| memory of the live calls of a node, GiB | ${figure(demand.callMemoryBytesANode / gib)} |`,
    `| cores of Postgres | ${figure(demand.postgresCores)} |`,
    `| transactions, a second | ${figure(demand.transactionsASecond)} |`,
    `| rows written, a second | ${figure(demand.rowsWrittenASecond)} |`,
    `| write-ahead log, MiB a second | ${figure(demand.walBytesASecond / 2 ** 20)} |`,
    ...(hasRedis ? [`| commands of Redis, a second | ${figure(demand.redisCommandsASecond)} |`] : []),
    `| network of all nodes, Mbit a second | ${figure(demand.networkBitsASecond / 1e6)} |`,
    `| rows that a day adds | ${figure(demand.rowsADay)} |`,
    `| Postgres, GiB that a day adds | ${figure(demand.storedBytesADay / gib)} |`,
    `| Postgres, GiB with ${load.retentionDays} days | ${figure(demand.storedBytesRetained / gib)} |`,
    `| recordings, TiB with ${load.retentionDays} days | ${figure(demand.recordedBytesRetained / 2 ** 40)} |`,
  ]
}

/** Rounds to three digits, because the measurement is no more precise. */
export function figure(value: number): string {
  if (Math.abs(value) < 0.0005) return '0'
  const rounded = Number(value.toPrecision(3))
  return rounded.toLocaleString('en-US', { maximumFractionDigits: 6 })
}
