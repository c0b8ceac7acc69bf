/**
 * Finds out when a whole product in this process is quiet: no Postgres statement is under way, no file, name or
 * connection is awaited, and the event loop has found nothing on its sockets for several rounds. Both ends of the other
 * sockets are in this process, so one end's bytes reach the other in the next round.
 */
import net from 'node:net'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Quiet } from '../clock.ts'
import { watchShortTimers } from './short-timers.ts'
import { watchStatements } from './statements.ts'

/**
 * The process is quiet after two event loop rounds without an event. A round finds the bytes that a socket sent in the
 * previous round.
 */
const quietRounds = 2
/**
 * After this many rounds without success, a thread is at work, such as writing a file, so the loop sleeps between two
 * rounds.
 */
const patientRounds = 2000
/** If a product is not quiet within this time, its test fails. */
const hangMs = 30_000

const statements = watchStatements(net.Socket.prototype)
const shortTimers = watchShortTimers()

export const wholeProcess: Quiet = {
  changes: () => statements.count,
  async settled() {
    let events = eventsOf()
    let quiet = 0
    for (let round = 0; quiet < quietRounds; round++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (statements.pending > 0) await within(statements.over())
      else if (round >= patientRounds || shortTimers.pending > 0) await sleep(1)
      if (round > patientRounds + hangMs) throw new Error(`not quiet: ${process.getActiveResourcesInfo().join(' ')}`)
      const now = eventsOf()
      quiet = now === events && !isWorking() ? quiet + 1 : 0
      events = now
    }
  },
}

async function within(work: Promise<void>): Promise<void> {
  const ended = new AbortController()
  const hangs = sleep(hangMs, undefined, { signal: ended.signal }).then(
    () => Promise.reject(new Error(`Postgres does not answer within ${hangMs} ms`)),
    () => {},
  )
  await Promise.race([work, hangs]).finally(() => ended.abort())
}

type Metrics = { uvMetricsInfo: { events: number } }

/** Counts the socket and thread events that the event loop has handled so far. */
const eventsOf = () => (performance.nodeTiming as unknown as Metrics).uvMetricsInfo.events

/** Sockets and timers only wait. All other work, such as a file read or a setImmediate callback, goes on by itself. */
const waits =
  /^(Timeout|TCPSocketWrap|TCPServerWrap|PipeWrap|PipeServerWrap|UDPWrap|TTYWrap|ProcessWrap|SignalWrap|FSEventWrap)$/
const isWorking = () =>
  statements.pending + shortTimers.pending > 0 || process.getActiveResourcesInfo().some((name) => !waits.test(name))
