import type { Log } from '../domain/ports/system.ts'
import type { Mount } from '../runtime/engine/options.ts'

/** The mount settings for every surface. */
export type SurfaceSettings = {
  /** The host name that serves only this surface, or null. */
  host: string | null
  /** Replaces `Service` in names of headers and subprotocols. */
  headerPrefix: string
  corsOrigins: readonly string[]
  log: Log
  /** Counts an error by its code. */
  count: (code: string) => void
}

/** Returns the part of a mount that all request surfaces share. */
export function mountOf({ host, corsOrigins }: SurfaceSettings) {
  return { host, basePath: '', corsOrigins, quota: true, health: false } satisfies Partial<Mount>
}
