/**
 * Where a piece of work is in a trace (W3C Trace Context). It is handed on from the request or the call to all that is
 * done for it. The place of a span is known before the work begins, so that the work can name it to a provider, and the
 * span is recorded when the work has ended.
 */
export interface Trace {
  /** Headers for what is asked of others on behalf of this work. */
  readonly headers: TraceHeaders
  /** Fields for log lines. They are empty where this server records nothing. */
  readonly logFields: Readonly<Record<string, string>>
  /** The place of a span below this one. */
  below(): Trace
  /** Records the span of this place, once. */
  record(span: EndedSpan): void
}

export type TraceHeaders = { readonly traceparent: string; readonly tracestate?: string }

export type EndedSpan = {
  name: string
  /** `client`: another server was asked. */
  kind: 'internal' | 'client' | 'server'
  /** On the monotonic clock. */
  startedMs: number
  /** Absent: now. */
  endedMs?: number
  /** Never holds words of a conversation or other content. Undefined values are left out. */
  attributes: Readonly<Record<string, string | number | boolean | undefined>>
  /** The class of the failure. Absent: the work succeeded. */
  failure?: string | undefined
}

export interface Traces {
  /** The place of the whole call. Its trace has the id of the call, so that every process finds it without asking. */
  call(callId: string): Trace
  /** The beginning of a trace. `callId`: the call that it is linked to. */
  begin(callId: string | null): Trace
}
