/** Cross-origin reads, for the origins that a mount lists. */
import type { Mount } from '../engine/options.ts'
import type { Route } from './routes.ts'

/** The origin when its pages may read the mount's answers, else ''. */
export function allowedOrigin(mount: Mount, origin: string): string {
  return origin !== '' && mount.corsOrigins.includes(origin) ? origin : ''
}

/** On every answer of the mount. Credentials are not allowed: keys come in a header, never in a cookie. */
export function pushCors(headers: string[], mount: Mount, origin: string): void {
  if (mount.corsOrigins.length === 0) return
  headers.push('Vary', 'Origin')
  if (origin !== '') headers.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', '*')
}

/** What a preflight asks for. */
export function pushPreflight(headers: string[], route: Route): void {
  headers.push(
    'Access-Control-Allow-Methods',
    route.allow,
    'Access-Control-Allow-Headers',
    route.requestHeaders,
    'Access-Control-Max-Age',
    '600',
  )
}
