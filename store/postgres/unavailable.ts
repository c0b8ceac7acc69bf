import { Fault } from '../../domain/records/fault.ts'

/** Errors of the driver and of the socket that a new connection can repair. */
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
 * SQLSTATE of shutdown, crash, starting up, too many connections, deadlock, serialization. A statement that took
 * too long (57014) is not here: a repeat would take as long.
 */
const passing = new Set(['57P01', '57P02', '57P03', '53300', '40P01', '40001'])
/** This process has closed the store. */
const closed = new Set(['CONNECTION_ENDED', 'CONNECTION_DESTROYED'])

/** Whether the same statement can succeed a moment later. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  return lost.has(code) || passing.has(code)
}

/**
 * The fault store_unreachable for a store that is away for a moment. Any other error is a defect of ours and stays
 * as it is.
 */
export function asFault(error: unknown): unknown {
  if (!isPassing(error) && !closed.has(codeOf(error))) return error
  return new Fault({ kind: 'store_unreachable' }, { retryAfterS: 1, cause: error })
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}
