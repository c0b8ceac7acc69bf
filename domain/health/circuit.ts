/**
 * The circuit of one model, of one provider's credential, or of a provider.
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
 * A failure whose provider says when to come back (Retry-After) opens the circuit at once, for that time: other models need not wait until
 * this one has refused `failuresMax` requests.
 *
 * `alive` is the first media byte. It lets other requests in again, because a stream may last an hour. It does not reset the circuit, because
 * a provider that opens well and breaks off every time must be left all the same. The first byte of an attempt that was under way when the
 * circuit opened says nothing.
 */
export type Circuit = {
  state: 'closed' | 'open' | 'half_open' | 'probing'
  /** Failures in a row while closed. */
  failures: number
  /** How long the circuit stays open this time, and until when on the monotonic clock. */
  openMs: number
  untilMs: number
}

export type CircuitEvent = 'begin' | 'alive' | 'success' | 'failure' | 'abandoned' | 'elapsed'
export type CircuitLimits = {
  failuresMax: number
  openMs: number
  openMaxMs: number
  /** The longest pause that a provider gets because it asked for one. 0: none does. */
  retryAfterMaxMs: number
}

/** `askedMs` is at most `retryAfterMaxMs`. */
type Move = (circuit: Circuit, limits: CircuitLimits, nowMs: number, askedMs: number) => Circuit

export const closed: Circuit = { state: 'closed', failures: 0, openMs: 0, untilMs: 0 }

const stay: Move = (circuit) => circuit
const close: Move = () => closed
const to =
  (state: Circuit['state']): Move =>
  (circuit) => ({ ...circuit, state })
const open: Move = (circuit, limits, nowMs, askedMs) => {
  const wanted = circuit.openMs === 0 ? limits.openMs : circuit.openMs * 2
  return openFor(Math.max(Math.min(wanted, limits.openMaxMs), askedMs), nowMs)
}
const count: Move = (circuit, limits, nowMs, askedMs) => {
  if (circuit.failures + 1 >= limits.failuresMax) return open(circuit, limits, nowMs, askedMs)
  return askedMs > 0 ? openFor(askedMs, nowMs) : { ...circuit, failures: circuit.failures + 1 }
}
const trial: Move = (circuit, limits) => ({ ...circuit, state: 'closed', failures: limits.failuresMax - 1 })
const whenDue: Move = (circuit, _limits, nowMs) =>
  nowMs < circuit.untilMs ? circuit : { ...circuit, state: 'half_open' }

function openFor(openMs: number, nowMs: number): Circuit {
  return { state: 'open', failures: 0, openMs, untilMs: nowMs + openMs }
}

/** The only way a circuit moves. A failure that was under way when the circuit opened says nothing new. */
const moves: Record<Circuit['state'], Record<CircuitEvent, Move>> = {
  closed: { begin: stay, alive: stay, success: close, failure: count, abandoned: stay, elapsed: stay },
  // An open circuit admits nobody by itself; a provider's does while only one of its models is to blame.
  open: { begin: to('probing'), alive: stay, success: close, failure: stay, abandoned: stay, elapsed: whenDue },
  half_open: { begin: to('probing'), alive: trial, success: close, failure: stay, abandoned: stay, elapsed: stay },
  probing: { begin: stay, alive: trial, success: close, failure: open, abandoned: to('half_open'), elapsed: stay },
}

/** `retryAfterMs` is how long the provider itself asked to be left alone. */
export function move(
  circuit: Circuit,
  event: CircuitEvent,
  limits: CircuitLimits,
  nowMs: number,
  retryAfterMs = 0,
): Circuit {
  return moves[circuit.state][event](circuit, limits, nowMs, Math.min(retryAfterMs, limits.retryAfterMaxMs))
}

export function admits(circuit: Circuit): boolean {
  return circuit.state === 'closed' || circuit.state === 'half_open'
}
