/** Passes an attempt's trace on to its provider (W3C Trace Context). */
import type { CancelSignal } from '../../domain/ports/system.ts'

/** Adds the trace headers. `headers` are names and values in turn. */
export function withTrace(headers: readonly string[], { traceHeaders }: CancelSignal): readonly string[] {
  return traceHeaders ? [...headers, ...Object.entries(traceHeaders).flat()] : headers
}
