/** W3C Trace Context: headers that join several servers' spans to one trace. */

export type TraceHeaders = { readonly traceparent: string; readonly tracestate?: string }

/** The same type as the domain's port in domain/ports/trace.ts. */
export interface Trace {
  readonly headers: TraceHeaders
  readonly logFields: Readonly<Record<string, string>>
  below(): Trace
  record(span: EndedSpan): void
}

export type EndedSpan = {
  name: string
  kind: 'internal' | 'client' | 'server'
  startedMs: number
  endedMs?: number
  attributes: Readonly<Record<string, string | number | boolean | undefined>>
  failure?: string | undefined
}

/** The fields that the server's parts add to a request's or a socket's log line. */
export type LogFields = Record<string, string>

export type TraceParent = { traceId: string; spanId: string; isSampled: boolean }

/** Other programs may drop a longer list (section 3.3.1.3). */
const tracestateCharactersMax = 512

/**
 * Reads a traceparent header. Null if it must be ignored (section 3.2). A later version may add fields after the known
 * four.
 */
export function readTraceparent(value: string): TraceParent | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(value) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Returns the value of a tracestate header, or '' if it must be ignored. */
export function readTracestate(value: string): string {
  return value.length <= tracestateCharactersMax && /^[\x20-\x7e]*$/.test(value) ? value : ''
}

export function writeHeaders({ traceId, spanId, isSampled }: TraceParent, tracestate: string): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
  return tracestate === '' ? { traceparent } : { traceparent, tracestate }
}

/**
 * Returns the client's trace, for a server without span recording: the server only forwards the headers. Null if the
 * client sent no valid trace.
 */
export function passedTrace(traceparent: string, tracestate: string): Trace | null {
  const parent = traceparent === '' ? null : readTraceparent(traceparent)
  if (parent === null) return null
  const passed: Trace = {
    headers: writeHeaders(parent, readTracestate(tracestate)),
    logFields: {},
    below: () => passed,
    record: () => {},
  }
  return passed
}
