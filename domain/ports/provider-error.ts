/**
 * Sorts provider failures into classes. The class decides whether the router tries another candidate. The vendor's text
 * stays in `cause`, for the log only.
 */
export const errorClasses = {
  auth: { failover: true },
  quota: { failover: true },
  bad_request: { failover: false },
  /** The model does not support the request's language, voice or format, but another model may. */
  unsupported: { failover: true },
  rate_limited: { failover: true },
  overloaded: { failover: true },
  timeout: { failover: true },
  protocol: { failover: true },
  /** The provider accepted the request, then sent an empty answer although content was expected. */
  empty: { failover: true },
  /** Nothing was sent: the connection was refused, the host name was not found, or the queue was full. */
  unreachable: { failover: true },
  server: { failover: true },
  /** The client disconnected. */
  cancelled: { failover: false },
} as const satisfies Record<string, { failover: boolean }>

export type ErrorClass = keyof typeof errorClasses

type ProviderErrorDetail = {
  sent: boolean
  status?: number | undefined
  retryAfterS?: number | undefined
  isOurDefect?: boolean
  isByCaller?: boolean
  cause?: unknown
}

export class ProviderError extends Error {
  readonly errorClass: ErrorClass
  /** False only if no byte was sent to the provider. */
  readonly sent: boolean
  readonly status: number | undefined
  readonly retryAfterS: number | undefined
  /** True if an exception in our code broke the request or its answer. */
  readonly isOurDefect: boolean
  /**
   * True if the API client caused the failure: with its stop words, with a token limit, or because it did not read a
   * stream.
   */
  readonly isByCaller: boolean

  constructor(errorClass: ErrorClass, detail: ProviderErrorDetail) {
    super(`provider ${errorClass}`, { cause: detail.cause })
    this.name = 'ProviderError'
    this.errorClass = errorClass
    this.sent = detail.sent
    this.status = detail.status
    this.retryAfterS = detail.retryAfterS
    this.isOurDefect = detail.isOurDefect ?? false
    this.isByCaller = detail.isByCaller ?? false
  }

  /**
   * Returns the failure's reason for the log, in one line and without a stack. A vendor's text is left out. Returns
   * undefined if the class is the whole reason.
   */
  get reason(): string | undefined {
    const words: string[] = []
    for (let { cause } = this as Error; cause instanceof Error && words.length < causesMax; { cause } = cause)
      words.push(wordsOf(cause))
    return words.length === 0 ? undefined : words.join(': ').replaceAll(/\s+/g, ' ').slice(0, reasonCharactersMax)
  }

  /** Returns true if the failure was a full queue in this server. */
  get isOurLimit(): boolean {
    return this.errorClass === 'overloaded' && !this.sent
  }

  /**
   * Returns true if the provider did not cause the failure. The failure must then open no circuit. Otherwise one busy
   * client, or one request that reveals a defect, would make the model unavailable to all clients.
   */
  get isOurs(): boolean {
    return this.isOurLimit || this.isOurDefect || this.isByCaller
  }
}

const causesMax = 4
const reasonCharactersMax = 512

/**
 * Describes an error. Node's AggregateError has no message, for example if all IP addresses of a host refuse the
 * connection.
 */
function wordsOf({ name, message, code }: Error & { code?: unknown }): string {
  const text = message === '' ? name : message
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text
}
