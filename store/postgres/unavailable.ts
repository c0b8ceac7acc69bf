import { Fault } from '../../domain/records/fault.ts'

/** Error codes for a lost connection, from the driver and the socket. A new connection can succeed. */
const lost = new Set([
  'CONNECTION_CLOSED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
])
/**
 * SQLSTATEs that pass by themselves: shutdown, crash, starting up, too many connections, deadlock, serialization. A
 * statement timeout (57014) is not here, because a repeat would take as long.
 */
const passing = new Set(['57P01', '57P02', '57P03', '53300', '40P01', '40001'])
/** Error codes after this process has closed the store. */
const closed = new Set(['CONNECTION_ENDED', 'CONNECTION_DESTROYED'])

/** Returns true if the same statement can succeed a moment later. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  return lost.has(code) || passing.has(code)
}

/**
 * Returns the fault store_unreachable if the store is away for a moment or closed. Any other error is our defect and
 * stays as it is.
 */
export function asFault(error: unknown): unknown {
  if (!isPassing(error) && !closed.has(codeOf(error))) return error
  return new Fault({ kind: 'store_unreachable' }, { retryAfterS: 1, cause: error })
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}
