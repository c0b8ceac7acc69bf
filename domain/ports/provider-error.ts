/**
 * How a provider failed, normalised. The class decides what the router does next. The vendor's text stays in `cause`, for the log only.
 */
export const errorClasses = {
  auth: { failover: true },
  quota: { failover: true },
  bad_request: { failover: false },
  /** The model cannot do what was asked (language, voice, format): another may. */
  unsupported: { failover: true },
  rate_limited: { failover: true },
  overloaded: { failover: true },
  timeout: { failover: true },
  protocol: { failover: true },
  /** Accepted and closed with nothing in it, although something was due. */
  empty: { failover: true },
  /** Nothing was sent: connect refused, name not found, queue full. */
  unreachable: { failover: true },
  server: { failover: true },
  /** The caller went away. */
  cancelled: { failover: false },
} as const satisfies Record<string, { failover: boolean }>

export type ErrorClass = keyof typeof errorClasses

export class ProviderError extends Error {
  readonly errorClass: ErrorClass
  /** False only when not one byte of the request was written to the provider. */
  readonly sent: boolean
  readonly status: number | undefined
  readonly retryAfterS: number | undefined

  constructor(
    errorClass: ErrorClass,
    detail: { sent: boolean; status?: number; retryAfterS?: number; cause?: unknown },
  ) {
    super(`provider ${errorClass}`, { cause: detail.cause })
    this.name = 'ProviderError'
    this.errorClass = errorClass
    this.sent = detail.sent
    this.status = detail.status
    this.retryAfterS = detail.retryAfterS
  }

  /** Our own queue is full. This is not a failure of the provider, so it must not open the circuit: one busy caller would refuse all others. */
  get isOurLimit(): boolean {
    return this.errorClass === 'overloaded' && !this.sent
  }
}
