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
  /** Our own code threw while it made the request or read the answer. */
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
   * For the log: why an ordinary failure happened, in one line and without a stack. A vendor's text is left out. Undefined: the class
   * says all that is known.
   */
  get reason(): string | undefined {
    const words: string[] = []
    for (let { cause } = this as Error; cause instanceof Error && words.length < causesMax; { cause } = cause)
      words.push(wordsOf(cause))
    return words.length === 0 ? undefined : words.join(': ').replaceAll(/\s+/g, ' ').slice(0, reasonCharactersMax)
  }

  /** Our own queue is full. */
  get isOurLimit(): boolean {
    return this.errorClass === 'overloaded' && !this.sent
  }

  /** Not a failure of the provider, so it must open no circuit: one caller who is busy, or who has found a defect, would take the model from all others. */
  get isOurs(): boolean {
    return this.isOurLimit || this.isOurDefect
  }
}

const causesMax = 4
const reasonCharactersMax = 512

/** An error with several causes, as that of a host with two addresses, can be without a message. */
function wordsOf({ name, message, code }: Error & { code?: unknown }): string {
  const text = message === '' ? name : message
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text
}
