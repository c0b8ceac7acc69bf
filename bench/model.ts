/**
 * Models a deployment from measured unit costs. Each demand is units per second times a unit's cost. So the model
 * ignores queues, failures, and a database larger than its memory.
 */
import type { CallCosts } from './call-costs.ts'
import type { Counts } from './counts.ts'
import type { RequestCosts } from './request-costs.ts'

export type UnitCosts = RequestCosts & CallCosts

export type Load = {
  organizations: number
  callsADay: number
  minutesACall: number
  /** The requests per day, in addition to the calls' requests. */
  requestsADay: number
  /** The busiest hour's share in a day's load. */
  busiestHour: number
  coresANode: number
  /** The share of a node's processors used in the busiest hour. The rest covers other nodes' failures and bursts. */
  nodeUse: number
  retentionDays: number
}

export const modelLoad: Load = {
  organizations: 10_000,
  callsADay: 1_000_000,
  minutesACall: 3,
  requestsADay: 10_000_000,
  busiestHour: 0.1,
  coresANode: 8,
  nodeUse: 0.6,
  retentionDays: 30,
}

/** A deployment's demand in the busiest hour, except for daily and monthly sums. */
export type Demand = {
  callsASecond: number
  liveCalls: number
  requestsASecond: number
  nodeCores: number
  nodes: number
  callMemoryBytesANode: number
  postgresCores: number
  transactionsASecond: number
  rowsWrittenASecond: number
  walBytesASecond: number
  redisCommandsASecond: number
  networkBitsASecond: number
  rowsADay: number
  storedBytesADay: number
  storedBytesRetained: number
  recordedBytesRetained: number
}

/** Describes how a load fills the nodes, and how many processes and database connections this needs. */
export type Setup = {
  /** The live calls that fill a process's JavaScript core. */
  callsACore: number
  /** The live calls on each node while another node is away. */
  liveCallsANode: number
  processesANode: number
  postgresConnections: number
}

/** Each process opens store.connectionsMax (8), two for batches, and one for listening to notifications. */
export const connectionsAProcess = 11

export function setupOf(costs: UnitCosts, load: Load): Setup {
  const { nodes, liveCalls } = demandOf(costs, load)
  const serverCores = inBusiestHour(costs, load)('nodeCpuMs') / 1_000
  const processesANode = Math.ceil(serverCores / (nodes - 1) / load.nodeUse)
  return {
    callsACore: 60_000 / costs.minute.nodeCpuMs,
    liveCallsANode: liveCalls / (nodes - 1),
    processesANode,
    postgresConnections: nodes * processesANode * connectionsAProcess,
  }
}

export function demandOf(costs: UnitCosts, load: Load): Demand {
  const { callsASecond, requestsASecond, minutesASecond } = ratesOf(load)
  const ofLoad = inBusiestHour(costs, load)
  const aDay = (name: keyof Counts) =>
    load.callsADay * (costs.call[name] + load.minutesACall * costs.minute[name]) +
    load.requestsADay * costs.request[name]
  const nodeCores = (ofLoad('nodeCpuMs') + ofLoad('childCpuMs')) / 1_000
  // One node more than the load needs, so that a node can be restarted.
  const nodes = Math.ceil(nodeCores / (load.coresANode * load.nodeUse)) + 1
  const atOnce = (name: keyof Counts) => ofLoad(name) + nodes * costs.idleSecond[name]
  const liveCalls = minutesASecond * 60
  const storedBytesADay = aDay('storedBytes')
  return {
    callsASecond,
    liveCalls,
    requestsASecond,
    nodeCores,
    nodes,
    callMemoryBytesANode: (liveCalls * costs.callMemoryBytes) / nodes,
    postgresCores: atOnce('postgresCpuMs') / 1_000,
    transactionsASecond: atOnce('transactions'),
    rowsWrittenASecond: atOnce('rowsWritten'),
    walBytesASecond: atOnce('walBytes'),
    redisCommandsASecond: atOnce('redisCommands'),
    networkBitsASecond: ofLoad('networkBytes') * 8,
    rowsADay: aDay('rowsKept'),
    storedBytesADay,
    storedBytesRetained: storedBytesADay * load.retentionDays,
    recordedBytesRetained: load.callsADay * load.minutesACall * costs.minuteRecordedBytes * load.retentionDays,
  }
}

function ratesOf(load: Load) {
  const aSecond = load.busiestHour / 3_600
  const callsASecond = load.callsADay * aSecond
  return {
    callsASecond,
    requestsASecond: load.requestsADay * aSecond,
    minutesASecond: callsASecond * load.minutesACall,
  }
}

/** Returns a function for a count's rate per second in the busiest hour, without the idle nodes' part. */
function inBusiestHour(costs: UnitCosts, load: Load) {
  const { callsASecond, requestsASecond, minutesASecond } = ratesOf(load)
  return (name: keyof Counts) =>
    callsASecond * costs.call[name] + minutesASecond * costs.minute[name] + requestsASecond * costs.request[name]
}
