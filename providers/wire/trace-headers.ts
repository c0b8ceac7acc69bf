/** Adds the trace headers to requests to providers (W3C Trace Context). */
import type { CancelSignal } from '../../domain/ports/system.ts'

/** Returns the headers with the trace headers added. `headers` are alternating names and values. */
export function withTrace(headers: readonly string[], { traceHeaders }: CancelSignal): readonly string[] {
  return traceHeaders ? [...headers, ...Object.entries(traceHeaders).flat()] : headers
}
