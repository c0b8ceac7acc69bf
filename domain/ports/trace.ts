/**
 * A work item's place in a trace (W3C Trace Context), handed on from a request or a call to all its work. The span's
 * place is known before the work begins, so a provider request can name it. The span is recorded when the work has
 * ended.
 */
export interface Trace {
  /** Headers for outbound requests made for this work. */
  readonly headers: TraceHeaders
  /** Fields for log lines. Empty if this server does not trace. */
  readonly logFields: Readonly<Record<string, string>>
  /** A child span's place. */
  below(): Trace
  /** Records this place's span, once. */
  record(span: EndedSpan): void
}

export type TraceHeaders = { readonly traceparent: string; readonly tracestate?: string }

export type EndedSpan = {
  name: string
  /** `client` for a request to another server. */
  kind: 'internal' | 'client' | 'server'
  /** On the monotonic clock. */
  startedMs: number
  /** If absent, now. */
  endedMs?: number
  /** Never holds conversation text or other content. Undefined values are left out. */
  attributes: Readonly<Record<string, string | number | boolean | undefined>>
  /** The failure's class. Absent if the work succeeded. */
  failure?: string | undefined
}

export interface Traces {
  /** The whole call's place. The trace id is derived from the call id, so every process finds it without a lookup. */
  call(callId: string): Trace
  /** Begins a trace. `callId` is the linked call. */
  begin(callId: string | null): Trace
}
