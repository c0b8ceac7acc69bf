/**
 * The circuit for one model, one credential, or one provider.
 *
 *   closed ──failuresMax in a row──► open ──openMs passed──► half_open ──begin──► probing
 *     ▲ ▲                             ▲                          ▲                 │ │ │ │
 *     │ │                             ├───failure: twice as long─│─────────────────┘ │ │ │
 *     │ │                             │                          └──abandoned────────┘ │ │
 *     │ └─success──closed, on trial───┴─failure: twice as long                         │ │
 *     │             ▲                                                                  │ │
 *     │             └──alive───────────────────────────────────────────────────────────┘ │
 *     └──success, from anywhere──────────────────────────────────────────────────────────┘
 *
 * If a failing provider sends `Retry-After`, the circuit opens at once for this time. So requests go to other models
 * before this model has refused `failuresMax` requests.
 *
 * `alive` reports the first media byte. After it, other requests are admitted again, because they cannot wait for the
 * end of a stream, which may last an hour. But one further failure opens the circuit again, because a provider may
 * begin each answer and then break off. While the circuit is open, an older attempt's first byte is ignored.
 */
export type Circuit = {
  state: 'closed' | 'open' | 'half_open' | 'probing'
  /** The number of failures in a row while the circuit is closed. */
  failures: number
  /** How long the circuit stays open, and the time on the monotonic clock when it becomes half-open. */
  openMs: number
  untilMs: number
}

export type CircuitEvent = 'begin' | 'alive' | 'success' | 'failure' | 'abandoned' | 'elapsed'
export type CircuitLimits = {
  failuresMax: number
  openMs: number
  openMaxMs: number
  /** Limits how long a Retry-After opens the circuit. If 0, Retry-After is ignored. */
  retryAfterMaxMs: number
}

/** Returns the circuit after an event. `retryAfterMs` is at most `retryAfterMaxMs`. */
type Move = (circuit: Circuit, limits: CircuitLimits, nowMs: number, retryAfterMs: number) => Circuit

export const closed: Circuit = { state: 'closed', failures: 0, openMs: 0, untilMs: 0 }

const stay: Move = (circuit) => circuit
const close: Move = () => closed
const to =
  (state: Circuit['state']): Move =>
  (circuit) => ({ ...circuit, state })
const open: Move = (circuit, limits, nowMs, retryAfterMs) => {
  const backoffMs = circuit.openMs === 0 ? limits.openMs : circuit.openMs * 2
  return openFor(Math.max(Math.min(backoffMs, limits.openMaxMs), retryAfterMs), nowMs)
}
const count: Move = (circuit, limits, nowMs, retryAfterMs) => {
  if (circuit.failures + 1 >= limits.failuresMax) return open(circuit, limits, nowMs, retryAfterMs)
  return retryAfterMs > 0 ? openFor(retryAfterMs, nowMs) : { ...circuit, failures: circuit.failures + 1 }
}
const trial: Move = (circuit, limits) => ({ ...circuit, state: 'closed', failures: limits.failuresMax - 1 })
/** A probe that ended with neither a success nor a failure does not change the pause. */
const unproved: Move = (circuit, _limits, nowMs) => ({
  ...circuit,
  state: nowMs < circuit.untilMs ? 'open' : 'half_open',
})
const whenDue: Move = (circuit, _limits, nowMs) =>
  nowMs < circuit.untilMs ? circuit : { ...circuit, state: 'half_open' }

function openFor(openMs: number, nowMs: number): Circuit {
  return { state: 'open', failures: 0, openMs, untilMs: nowMs + openMs }
}

/** The next state for each state and event. If an attempt started before the circuit opened, its failure is ignored. */
const moves: Record<Circuit['state'], Record<CircuitEvent, Move>> = {
  closed: { begin: stay, alive: stay, success: close, failure: count, abandoned: stay, elapsed: stay },
  // An open circuit admits no attempt. Only a provider's circuit can begin a probe here, while just one of its models
  // has failed.
  open: { begin: to('probing'), alive: stay, success: close, failure: stay, abandoned: stay, elapsed: whenDue },
  half_open: { begin: to('probing'), alive: trial, success: close, failure: stay, abandoned: stay, elapsed: stay },
  probing: { begin: stay, alive: trial, success: close, failure: open, abandoned: unproved, elapsed: stay },
}

/** Returns the circuit after an event. `retryAfterMs` is the pause that the provider requested. */
export function move(
  circuit: Circuit,
  event: CircuitEvent,
  limits: CircuitLimits,
  nowMs: number,
  retryAfterMs = 0,
): Circuit {
  return moves[circuit.state][event](circuit, limits, nowMs, Math.min(retryAfterMs, limits.retryAfterMaxMs))
}
