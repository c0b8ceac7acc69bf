import { Fault } from '../../domain/records/fault.ts'

/** Error codes for a lost connection, from the driver and the socket. A new connection can succeed. */
const lost = new Set([
  'CONNECTION_CLOSED',
  'CONNECT_TIMEOUT',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])
/** SQLSTATEs of a server that ends, has crashed or is starting. */
const ending = new Set(['57P01', '57P02', '57P03', '57P04', '57P05'])
/**
 * SQLSTATEs for failures that end by themselves or through the operator's work: full disk, out of memory, too many
 * connections, read-only database, deadlock, serialization. A statement timeout (57014) is not here, because a repeat
 * would take as long.
 */
const passing = new Set(['53100', '53200', '53300', '25006', '40P01', '40001'])
/** Error codes after this process has closed the store. */
const closed = new Set(['CONNECTION_ENDED', 'CONNECTION_DESTROYED'])

/** Returns true if the same statement can succeed later. */
export function isPassing(error: unknown): boolean {
  return isLost(error) || passing.has(codeOf(error)) || isUnreachable(error)
}

/** Returns true if the connection was lost, or the server is ending or starting. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error)
  return lost.has(code) || ending.has(code)
}

/**
 * Returns true if a row itself is at fault: its data break a type or a constraint (SQLSTATE classes 22 and 23), or our
 * own code cannot write them. Other errors by Postgres, such as a time-out or a disk error, say nothing about a row.
 */
export function isOfRow(error: unknown): boolean {
  if (isPassing(error) || closed.has(codeOf(error))) return false
  return isAnswer(error) ? /^2[23]/.test(codeOf(error)) : true
}

/** Returns true if a running server has sent this error. Only errors by Postgres have a severity. */
export function isAnswer(error: unknown): boolean {
  return (error as { severity?: unknown } | null)?.severity !== undefined && !isLost(error)
}

/**
 * Returns the fault store_unreachable if the store is unreachable for a moment, cannot write or is closed. Any other
 * error is our defect and stays as it is.
 */
export function asFault(error: unknown): unknown {
  if (isUnreachable(error) || (!isPassing(error) && !closed.has(codeOf(error)))) return error
  return new Fault({ kind: 'store_unreachable' }, { retryAfterS: 1, cause: error })
}

/** Returns true for the fault store_unreachable. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Fault && error.kind === 'store_unreachable'
}

/** Returns the error's code or class. Unlike a message by Postgres, this never quotes a row. */
export function reasonOf(error: unknown): string {
  return codeOf(error) || (error instanceof Error ? error.name : typeof error)
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}
