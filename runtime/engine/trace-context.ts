/** W3C Trace Context: the headers that join the spans of several servers to one trace. */

export type TraceHeaders = { readonly traceparent: string; readonly tracestate?: string }

/** The same as the port of the domain: domain/ports/trace.ts. */
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

/** The line of a request or a socket in the log has these fields too. Each part of the server adds its own. */
export type LogFields = Record<string, string>

export type TraceParent = { traceId: string; spanId: string; isSampled: boolean }

/** Section 3.3.1.3: longer lists may be dropped. */
const tracestateCharactersMax = 512

/** Null for a header that must be ignored (section 3.2). A later version may have more fields behind these. */
export function readTraceparent(value: string): TraceParent | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(value) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** '' for a list that must be ignored. */
export function readTracestate(value: string): string {
  return value.length <= tracestateCharactersMax && /^[\x20-\x7e]*$/.test(value) ? value : ''
}

export function writeHeaders({ traceId, spanId, isSampled }: TraceParent, tracestate: string): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
  return tracestate === '' ? { traceparent } : { traceparent, tracestate }
}

/** The trace of a client, for a server that records no spans: it only hands the headers on. Null: the client sent none. */
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
