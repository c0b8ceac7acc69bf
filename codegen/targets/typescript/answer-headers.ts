import type { Header } from '../../ir.ts'

/** The engine writes these headers on every response that declares them. */
const engineHeaders = new Set([
  'Service-Request-ID',
  'x-request-id',
  'Service-Region',
  'RateLimit-Policy',
  'RateLimit',
  'X-Accel-Buffering',
  'Deprecation',
  'Sunset',
  'Link',
])

/** Returns the headers that handlers set. */
export function handlerHeaders(headers: readonly Header[]): Header[] {
  return headers.filter(({ name }) => !engineHeaders.has(name))
}
