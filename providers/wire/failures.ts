/** From what a vendor, a connection or a defect says to the one class that routing reads. */
import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import { OutboundError, type OutboundFailure } from '../../runtime/outbound/outbound-error.ts'

export const protocolError = (cause: unknown) => new ProviderError('protocol', { sent: true, cause })

/** Turns a failure of the engine into one of the domain; everything else is a defect of ours and stays what it is. */
export function toProviderError(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error
  const errorClass = classes[error.failure]
  const isOurs = errorClass === 'cancelled' || errorClass === 'overloaded'
  return new ProviderError(error.sent || isOurs ? errorClass : 'unreachable', {
    sent: error.sent,
    cause: error,
  })
}

export function rejectAsProviderError(error: unknown): never {
  throw toProviderError(error)
}

const classes: Record<OutboundFailure, ErrorClass> = {
  unreachable: 'unreachable',
  connect_timeout: 'unreachable',
  address_refused: 'unreachable',
  // Our own connections, not the vendor, are at their limit.
  queue_full: 'overloaded',
  first_byte_timeout: 'timeout',
  idle_timeout: 'timeout',
  total_timeout: 'timeout',
  cut: 'protocol',
  protocol: 'protocol',
  answer_too_large: 'protocol',
  cancelled: 'cancelled',
}

/** What a status means where the vendor has no word of its own. */
export function classOfStatus(status: number): ErrorClass {
  if (status === 401 || status === 403) return 'auth'
  if (status === 402) return 'quota'
  if (status === 429) return 'rate_limited'
  if (status === 408 || status === 504) return 'timeout'
  if (status === 503 || status === 529) return 'overloaded'
  if (status >= 500) return 'server'
  // Below 400 is a redirect or another success than the one agreed: the base URL does not lead to this API.
  return status >= 400 ? 'bad_request' : 'protocol'
}

/** For the log: short, and never with the key in it. */
export function excerpt(text: string, apiKey: string | null): string {
  const short = text.slice(0, 4096)
  return (apiKey ? short.replaceAll(apiKey, '[key]') : short).slice(0, 1024)
}
