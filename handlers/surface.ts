import type { Log } from '../domain/ports/system.ts'
import type { Mount } from '../runtime/engine/options.ts'

/** The mount settings for every surface. */
export type SurfaceSettings = {
  /** The host name for this surface alone, or null. */
  host: string | null
  /** Replaces `Service` in names of headers and subprotocols. */
  headerPrefix: string
  corsOrigins: readonly string[]
  log: Log
  /** Counts an error by its code. */
  count: (code: string) => void
}

/** The part of a mount shared by all request surfaces. */
export function mountOf({ host, corsOrigins }: SurfaceSettings) {
  return { host, basePath: '', corsOrigins, quota: true, health: false } satisfies Partial<Mount>
}
