/**
 * A span context in a trace (W3C Trace Context), passed on to all work for a request or a call. The context exists
 * before the work begins, so a request to a provider can refer to it. The span is recorded when the work has ended.
 */
export interface Trace {
  /** Headers for outbound requests made for this work. */
  readonly headers: TraceHeaders
  /** Fields for log lines. Empty if this server does not trace. */
  readonly logFields: Readonly<Record<string, string>>
  /** Makes the context for a child span. */
  below(): Trace
  /** Records this context's span. Must be called only once. */
  record(span: EndedSpan): void
}

export type TraceHeaders = { readonly traceparent: string; readonly tracestate?: string }

export type EndedSpan = {
  name: string
  /** `client` means a request to another server. */
  kind: 'internal' | 'client' | 'server'
  /** Measured by the monotonic clock. */
  startedMs: number
  /** If absent, the span ends now. */
  endedMs?: number
  /** Must never contain the conversation's text or other content. Undefined values are left out. */
  attributes: Readonly<Record<string, string | number | boolean | undefined>>
  /** The failure's class. Absent if the work succeeded. */
  failure?: string | undefined
}

export interface Traces {
  /**
   * Returns the call's span context. The trace id is derived from the call id, so every process computes the same trace
   * id without a lookup.
   */
  call(callId: string): Trace
  /** Begins a trace. If `callId` is set, the trace is linked to this call. */
  begin(callId: string | null): Trace
}
