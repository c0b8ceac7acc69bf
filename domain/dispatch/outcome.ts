import { SealError } from '../access/seal-error.ts'
import type { ErrorClass, ProviderError } from '../ports/provider-error.ts'
import { type AttemptReport, Fault, type FaultDetail } from '../records/fault.ts'
import type { Failure, Unserved } from './attempt.ts'

/** If a provider refused a request and gave no `Retry-After`, clients are asked to wait this long. */
const retryAfterDefaultS = 1

/**
 * Returns true if a byte was sent to any provider. If not, the request had no effect, and its idempotency key may be
 * used again.
 */
export function anySent({ failures }: Unserved): boolean {
  return failures.some(({ error }) => error.sent)
}

/**
 * Returns the fault if all attempts failed. `bad_request` means that a provider refused the request. The API client has
 * made no error, because the request was checked against the contract before. The cause is a limit of this provider, or
 * a defect in our translation.
 */
export function faultOf(unserved: Unserved, keyed: boolean): Fault {
  const { failures, retryAfterMs } = unserved
  const detail: FaultDetail = {
    attempts: failures.map(({ report }) => report),
    ...(keyed && anySent(unserved) && { isKeySpent: true }),
    ...(failures.length > 0 && { cause: failures.at(-1)?.error }),
  }
  if (unserved.cancelled || failures.at(-1)?.error.errorClass === 'cancelled') return cancelled(detail)
  if (failures.length === 0 && !unserved.timedOut)
    return laterOn('providers_unreachable', detail, (retryAfterMs ?? 0) / 1000)
  if (all(failures, 'rate_limited')) return laterOn('all_rate_limited', detail, longestWaitS(failures))
  if (failures.some(isUnknownThere)) return new Fault({ kind: 'no_such_model', near: [] }, detail)
  if (all(failures, 'unsupported')) return new Fault({ kind: 'all_unsupported' }, detail)
  if (all(failures, 'bad_request') && !anySent(unserved)) return new Fault({ kind: 'nothing_to_send' }, detail)
  if (all(failures, 'overloaded') && !anySent(unserved))
    return laterOn('providers_busy', detail, longestWaitS(failures))
  const [sealed] = failures.filter(({ error }) => error.cause instanceof SealError)
  if (sealed !== undefined && !anySent(unserved))
    return new Fault(
      { kind: 'providers_unreachable', sealedFor: sealed.report.provider },
      { ...detail, retryAfterS: retryAfterDefaultS },
    )
  if (failures.length > 0 && !anySent(unserved)) return laterOn('providers_unreachable', detail, longestWaitS(failures))
  if (unserved.timedOut || all(failures, 'timeout')) return new Fault({ kind: 'timed_out' }, detail)
  const isRefused = failures.at(-1)?.error.errorClass === 'bad_request'
  return new Fault({ kind: isRefused ? 'provider_refused' : 'all_failed' }, detail)
}

/** Returns true if the request pinned a model outside the catalog, and the provider rejects the model as unknown. */
function isUnknownThere({ row, error }: Failure): boolean {
  return !row.isListed && error.status === 404
}

/**
 * Returns the fault if a stream broke off after its first media. A second attempt is then impossible, because the
 * client already has a part of the answer.
 */
export function brokenStream(error: ProviderError, keyed: boolean, attempts: AttemptReport[]): Fault {
  const detail: FaultDetail = { cause: error, attempts, ...(keyed && { isKeySpent: true }) }
  if (error.errorClass === 'cancelled') return cancelled(detail)
  if (error.errorClass === 'timeout') return new Fault({ kind: 'timed_out' }, detail)
  if (error.errorClass === 'bad_request' && !error.sent) return new Fault({ kind: 'nothing_to_send' }, detail)
  if (error.isOurLimit) return laterOn('providers_busy', detail, error.retryAfterS ?? 0)
  if (error.errorClass === 'rate_limited') return laterOn('stream_rate_limited', detail, error.retryAfterS ?? 0)
  return new Fault({ kind: 'stream_broken' }, detail)
}

function all(failures: readonly Failure[], errorClass: ErrorClass): boolean {
  return failures.length > 0 && failures.every(({ error }) => error.errorClass === errorClass)
}

function longestWaitS(failures: readonly Failure[]): number {
  return Math.max(0, ...failures.map(({ error }) => error.retryAfterS ?? 0))
}

/**
 * Returns the fault for a cancelled request. In most cases the client has disconnected and does not receive the fault.
 * If the server is shutting down, the client receives it.
 */
function cancelled(detail: FaultDetail): Fault {
  return new Fault({ kind: 'cancelled' }, { ...detail, retryAfterS: retryAfterDefaultS })
}

type LaterKind = 'providers_unreachable' | 'providers_busy' | 'all_rate_limited' | 'stream_rate_limited'

function laterOn(kind: LaterKind, detail: FaultDetail, waitS: number): Fault {
  return new Fault({ kind }, { ...detail, retryAfterS: Math.max(retryAfterDefaultS, Math.ceil(waitS)) })
}
