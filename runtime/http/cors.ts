/** Writes CORS headers, so pages from a mount's `corsOrigins` can read its responses. */
import type { Mount } from '../engine/options.ts'
import type { PathEntry } from './routes.ts'

/** Returns the origin if its pages may read the mount's responses, else ''. */
export function allowedOrigin(mount: Mount, origin: string): string {
  return origin !== '' && mount.corsOrigins.includes(origin) ? origin : ''
}

/**
 * Adds the headers for every response from the mount. Credentials are not allowed: API keys are in a header, never in a
 * cookie.
 */
export function pushCors(headers: string[], mount: Mount, origin: string): void {
  if (mount.corsOrigins.length === 0) return
  headers.push('Vary', 'Origin')
  if (origin !== '') headers.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', '*')
}

/** Adds the headers for the response to a preflight. */
export function pushPreflight(headers: string[], entry: PathEntry): void {
  headers.push(
    'Access-Control-Allow-Methods',
    entry.allow,
    'Access-Control-Allow-Headers',
    entry.requestHeaders,
    'Access-Control-Max-Age',
    '600',
  )
}
