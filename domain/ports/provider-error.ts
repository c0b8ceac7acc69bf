/**
 * Normalises provider failures. The class decides the router's next step. The vendor's text stays in `cause`, for the
 * log only.
 */
export const errorClasses = {
  auth: { failover: true },
  quota: { failover: true },
  bad_request: { failover: false },
  /** The model does not support the request (language, voice, format), but another model may. */
  unsupported: { failover: true },
  rate_limited: { failover: true },
  overloaded: { failover: true },
  timeout: { failover: true },
  protocol: { failover: true },
  /** The provider accepted the request, then closed with an empty answer although content was due. */
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
  /** False only if no byte was written to the provider. */
  readonly sent: boolean
  readonly status: number | undefined
  readonly retryAfterS: number | undefined
  /** True if our own code threw while making the request or reading the answer. */
  readonly isOurDefect: boolean

  constructor(
    errorClass: ErrorClass,
    detail: { sent: boolean; status?: number; retryAfterS?: number; isOurDefect?: boolean; cause?: unknown },
  ) {
    super(`provider ${errorClass}`, { cause: detail.cause })
    this.name = 'ProviderError'
    this.errorClass = errorClass
    this.sent = detail.sent
    this.status = detail.status
    this.retryAfterS = detail.retryAfterS
    this.isOurDefect = detail.isOurDefect ?? false
  }

  /**
   * The failure's reason for the log, in one line and without a stack. A vendor's text is left out. Undefined if the
   * class says everything.
   */
  get reason(): string | undefined {
    const words: string[] = []
    for (let { cause } = this as Error; cause instanceof Error && words.length < causesMax; { cause } = cause)
      words.push(wordsOf(cause))
    return words.length === 0 ? undefined : words.join(': ').replaceAll(/\s+/g, ' ').slice(0, reasonCharactersMax)
  }

  /** True if our own queue is full. */
  get isOurLimit(): boolean {
    return this.errorClass === 'overloaded' && !this.sent
  }

  /**
   * True if the provider did not fail, so the failure must not open a circuit. Otherwise one busy caller, or one caller
   * with a request that reveals a defect, would take the model from all others.
   */
  get isOurs(): boolean {
    return this.isOurLimit || this.isOurDefect
  }
}

const causesMax = 4
const reasonCharactersMax = 512

/** An error with several causes can lack a message, for example for a host with two addresses. */
function wordsOf({ name, message, code }: Error & { code?: unknown }): string {
  const text = message === '' ? name : message
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text
}
