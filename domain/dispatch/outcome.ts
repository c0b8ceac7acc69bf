import { type AttemptReport, Fault, type FaultDetail } from '../fault.ts'
import type { ErrorClass, ProviderError } from '../ports/provider-error.ts'
import type { Failure, Unserved } from './attempt.ts'

/** Said where a provider refused without naming a time. */
const retryAfterDefaultS = 1

/** False when no provider was sent one byte: then the request has not happened, and its key may be used again. */
export function anySent({ failures }: Unserved): boolean {
  return failures.some(({ error }) => error.sent)
}

/**
 * Attempts that all failed, as the caller reads them. `bad_request` is the provider's word that the request is wrong. It is answered as
 * provider_error and not as the caller's fault, because all that the contract lets a caller say was checked before: what is left is a limit that
 * only this provider knows, or our own translation, and neither has a `param` to name.
 */
export function faultOf(unserved: Unserved, keyed: boolean): Fault {
  const { failures, retryAfterMs } = unserved
  const detail: FaultDetail = {
    attempts: failures.map(({ report }) => report),
    ...(keyed && anySent(unserved) && { afterDispatch: true }),
    ...(failures.length > 0 && { cause: failures.at(-1)?.error }),
  }
  if (unserved.cancelled || failures.at(-1)?.error.errorClass === 'cancelled') return gone(detail)
  if (failures.length === 0 && !unserved.timedOut) return unavailable(detail, (retryAfterMs ?? 0) / 1000)
  if (all(failures, 'rate_limited')) return rateLimited(detail, longestWaitS(failures), everyone)
  if (all(failures, 'unsupported')) return unsupported(detail)
  if (all(failures, 'bad_request') && !anySent(unserved)) return notToBeSent(detail)
  if (all(failures, 'overloaded') && !anySent(unserved)) return full(detail, longestWaitS(failures))
  if (failures.length > 0 && !anySent(unserved)) return unavailable(detail, longestWaitS(failures))
  if (unserved.timedOut || all(failures, 'timeout')) return timedOut(detail)
  return failed(failures.at(-1)?.error.errorClass, detail)
}

/** A stream that broke after its first media: nothing can be tried again behind the caller's back. */
export function brokenStream(error: ProviderError, keyed: boolean, attempts: AttemptReport[]): Fault {
  const detail: FaultDetail = { cause: error, attempts, ...(keyed && { afterDispatch: true }) }
  if (error.errorClass === 'cancelled') return gone(detail)
  if (error.errorClass === 'timeout') return timedOut(detail)
  if (error.errorClass === 'bad_request' && !error.sent) return notToBeSent(detail)
  if (error.isOurLimit) return full(detail, error.retryAfterS ?? 0)
  if (error.errorClass === 'rate_limited') return rateLimited(detail, error.retryAfterS ?? 0, theOne)
  const message = 'The provider broke off in the middle of its answer.'
  return new Fault('provider_error', {
    ...detail,
    message,
    hint: 'Send the request again; what arrived so far is incomplete.',
  })
}

function all(failures: readonly Failure[], errorClass: ErrorClass): boolean {
  return failures.length > 0 && failures.every(({ error }) => error.errorClass === errorClass)
}

function longestWaitS(failures: readonly Failure[]): number {
  return Math.max(0, ...failures.map(({ error }) => error.retryAfterS ?? 0))
}

/** Mostly nobody reads this, because the client has gone; when the service is being stopped somebody does. */
function gone(detail: FaultDetail): Fault {
  const message = 'The request was cancelled before it was answered.'
  return new Fault('service_unavailable', {
    ...detail,
    message,
    hint: 'Send the request again.',
    retryAfterS: retryAfterDefaultS,
  })
}

/** An adapter that sends nothing because there is nothing to send (a text of emoji, to a voice) knows that the request is at fault. */
function notToBeSent(detail: FaultDetail): Fault {
  const message = 'The chosen model can make nothing of this input.'
  return new Fault('capability_unsupported', {
    ...detail,
    message,
    hint: 'Change the input, or route it to another model.',
  })
}

function unavailable(detail: FaultDetail, waitS: number): Fault {
  return new Fault('provider_unavailable', {
    ...detail,
    message: 'No provider could be reached; nothing was sent to any.',
    hint: 'Retry after the delay, or widen the routing.',
    retryAfterS: Math.max(retryAfterDefaultS, Math.ceil(waitS)),
  })
}

function full(detail: FaultDetail, waitS: number): Fault {
  return new Fault('provider_unavailable', {
    ...detail,
    isFull: true,
    message: 'Everything that could serve this is busy.',
    hint: 'Retry after the delay, or widen the routing.',
    retryAfterS: Math.max(retryAfterDefaultS, Math.ceil(waitS)),
  })
}

const everyone = 'Every provider that could answer is limiting its rate.'
const theOne = 'The provider went no further, because it is limiting its rate.'

function rateLimited(detail: FaultDetail, waitS: number, message: string): Fault {
  const retryAfterS = Math.max(retryAfterDefaultS, Math.ceil(waitS))
  return new Fault('provider_rate_limited', {
    ...detail,
    message,
    hint: `Retry after ${retryAfterS} s, or widen the routing.`,
    retryAfterS,
  })
}

function timedOut(detail: FaultDetail): Fault {
  const message = 'No provider answered in time.'
  return new Fault('request_timeout', {
    ...detail,
    message,
    hint: 'Retry, or choose a faster model with objective latency.',
  })
}

function unsupported(detail: FaultDetail): Fault {
  const message = 'The providers that were tried cannot do what was asked.'
  return new Fault('capability_unsupported', {
    ...detail,
    message,
    hint: 'Change the language, the voice or the format, or widen the routing.',
  })
}

function failed(errorClass: ErrorClass | undefined, detail: FaultDetail): Fault {
  if (errorClass !== 'bad_request') {
    const message = 'Every provider that was tried failed.'
    return new Fault('provider_error', {
      ...detail,
      message,
      hint: 'Retry, or widen the routing so that others can be tried.',
    })
  }
  const message = 'The provider refused the request.'
  const hint =
    'A limit of this model may be exceeded, for example its context length: shorten the request or choose another model.'
  return new Fault('provider_error', { ...detail, message, hint })
}
