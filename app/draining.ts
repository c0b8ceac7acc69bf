/** Explains why a draining server has not ended yet, for the log and for a person at a terminal. */
import type { ParleyConfig } from '../generated/config/types.ts'

/** `calls` are phone calls and sessions; their sockets are among `sockets`. */
export type Open = { calls: number; requests: number; sockets: number }

export type Waiting = Open & { untilMs: number; forMs: number }

/**
 * Returns the open work and the drain's latest end. While calls are open, the server waits up to `sessionsMs`: see
 * runtime/server/drain.ts.
 */
export function waitingOf(open: Open, drain: ParleyConfig['drain'], lbDelayMs: number, nowMs: number): Waiting {
  const ownMs = open.calls > 0 ? Math.max(drain.graceMs, drain.sessionsMs) : drain.graceMs
  const isIdle = open.calls + open.requests + open.sockets === 0
  const forMs = lbDelayMs + (isIdle ? 0 : ownMs)
  return { ...open, forMs, untilMs: nowMs + forMs }
}

/**
 * Describes how long a drain waits, and why. `timeOf` formats a time, because the log and a terminal use different time
 * zones.
 */
export function waitingWords({ calls, requests, sockets, untilMs, forMs }: Waiting, timeOf: (ms: number) => string) {
  const open = [said(calls, 'call'), said(requests, 'request'), said(sockets, 'socket')].filter((each) => each !== '')
  const until = `until ${timeOf(untilMs)} at the latest (${duration(forMs)})`
  if (open.length > 0) return `draining: waits for ${open.join(', ')}, ${until}`
  return forMs === 0 ? 'draining: nothing is open' : `draining: nothing is open; new requests are taken ${until}`
}

const said = (count: number, noun: string) => (count === 0 ? '' : `${count} ${noun}${count === 1 ? '' : 's'}`)

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return `${seconds} s`
  return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
}
