/**
 * Finds out when a whole product in this process is quiet: no Postgres statement is under way, no file, name,
 * connection or compiled module is awaited, and all bytes that the process has sent to itself have reached their
 * sockets.
 */
import net from 'node:net'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Quiet } from '../clock.ts'
import { watchCompilations } from './compilations.ts'
import { LoopbackMarker } from './loopback-marker.ts'
import { watchShortTimers } from './short-timers.ts'
import { watchStatements } from './statements.ts'

/**
 * After this many rounds without success, a thread is at work, such as writing a file, so the loop sleeps between two
 * rounds.
 */
const patientRounds = 2000
/** If a product is not quiet within this time, its test fails. */
const hangMs = 30_000

const statements = watchStatements(net.Socket.prototype)
const shortTimers = watchShortTimers()
const compilations = watchCompilations()
const marker = new LoopbackMarker()

type Caller = { resolve: () => void; reject: (error: unknown) => void }

/** The callers whose wait begins when the current wait for a quiet process is over. */
const callers: Caller[] = []
let isWaiting = false

export const wholeProcess: Quiet = {
  changes: () => statements.count,
  settled: () =>
    new Promise((resolve, reject) => {
      callers.push({ resolve, reject })
      if (!isWaiting) void serveCallers()
    }),
}

/**
 * Waits once for all callers. If two waits ran at once, each wait's datagrams would look like work of the process to
 * the other, and many clocks would never find the process quiet.
 */
async function serveCallers(): Promise<void> {
  isWaiting = true
  while (callers.length > 0) {
    const served: Caller[] = []
    try {
      await quiet(() => served.push(...callers.splice(0)))
      for (const { resolve } of served) resolve()
    } catch (error) {
      for (const { reject } of [...served, ...callers.splice(0)]) reject(error)
    }
  }
  isWaiting = false
}

/** Resolves when the process is quiet. Calls `begun` before the first look, so all earlier work counts. */
async function quiet(begun: () => void): Promise<void> {
  for (let round = 0; ; round++) {
    const events = eventsOf()
    await nextRound()
    if (round === 0) begun()
    if (statements.pending > 0) await within(statements.over(), 'Postgres does not answer')
    else if (round >= patientRounds || shortTimers.pending > 0) await sleep(1)
    if (round > patientRounds + hangMs) throw new Error(`not quiet: ${process.getActiveResourcesInfo().join(' ')}`)
    if (eventsOf() === events && !isWorking() && (await hasReceivedAll())) return
  }
}

/** Resolves with true if the process has received nothing that it had sent to itself, and no other work has begun. */
async function hasReceivedAll(): Promise<boolean> {
  const events = eventsOf()
  await within(marker.passed(), 'a datagram to this process does not come')
  // Other events in the event loop round with the datagram are handled before the next round.
  await nextRound()
  return eventsOf() - events === marker.events && !isWorking()
}

const nextRound = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** Waits for `work`, and fails if `work` takes too long. A clock that moves calls this for each timer. */
function within(work: Promise<void>, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const guard = setTimeout(() => reject(new Error(`${what} within ${hangMs} ms`)), hangMs)
    void work.finally(() => clearTimeout(guard)).then(resolve, reject)
  })
}

type Metrics = { uvMetricsInfo: { events: number } }

/** Counts the socket and thread events that the event loop has handled so far. */
const eventsOf = () => (performance.nodeTiming as unknown as Metrics).uvMetricsInfo.events

/** These resources only wait for an event. While any other resource is active, such as a file read, work goes on. */
const waits =
  /^(Timeout|TCPSocketWrap|TCPServerWrap|PipeWrap|PipeServerWrap|UDPWrap|TTYWrap|ProcessWrap|SignalWrap|FSEventWrap)$/
const isWorking = () =>
  statements.pending + shortTimers.pending + compilations.pending > 0 ||
  process.getActiveResourcesInfo().some((name) => !waits.test(name))
