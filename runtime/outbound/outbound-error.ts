/** Failures in a request to another server. Adapters translate them into the domain's error classes. */
export type OutboundFailure =
  | 'unreachable'
  | 'connect_timeout'
  | 'address_refused'
  /** Too many requests of this server wait for a connection, or this request has waited too long. */
  | 'queue_full'
  /** Our reader of the response was stuck, while another organization needed the connection. */
  | 'unread'
  | 'first_byte_timeout'
  | 'idle_timeout'
  | 'total_timeout'
  /** The connection ended before the response was whole. */
  | 'cut'
  /** The response is not valid HTTP, or breaks the agreed protocol. */
  | 'protocol'
  | 'answer_too_large'
  /** The calling code's cancel signal was aborted. */
  | 'cancelled'

export class OutboundError extends Error {
  readonly failure: OutboundFailure
  /** False only if no byte was written. The same request may then go to another server without risk. */
  readonly sent: boolean

  constructor(failure: OutboundFailure, sent: boolean, cause?: unknown) {
    super(failure, { cause })
    this.name = 'OutboundError'
    this.failure = failure
    this.sent = sent
  }
}

export function toOutboundError(error: Error, sent: boolean): OutboundError {
  if (error instanceof OutboundError) return error
  // undici's parser error contains the invalid bytes and has no code. A server's text must not reach the log.
  if (error.name === 'HTTPParserError') return new OutboundError('protocol', sent, error.message)
  return new OutboundError(failureOf(error, sent), sent, error)
}

function failureOf(error: Error, sent: boolean): OutboundFailure {
  return failures[(error as NodeJS.ErrnoException).code ?? ''] ?? (sent ? 'cut' : 'unreachable')
}

const failures: Partial<Record<string, OutboundFailure>> = {
  ERR_ADDRESS_REFUSED: 'address_refused',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  // A header cannot be written, such as a key with a line break in it.
  UND_ERR_INVALID_ARG: 'protocol',
}
