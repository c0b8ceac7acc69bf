import type { Log } from '../domain/ports/system.ts'
import type { Mount } from '../runtime/engine/options.ts'

/** The settings that every surface is mounted with. */
export type SurfaceSettings = {
  /** The host name that only this surface answers at, or null. */
  host: string | null
  /** Replaces `Service` in names of headers and subprotocols. */
  headerPrefix: string
  corsOrigins: readonly string[]
  log: Log
  /** Counts an error by its code. */
  count: (code: string) => void
}

/** The part of a mount that is the same for all surfaces of requests. */
export function mountOf({ host, corsOrigins }: SurfaceSettings) {
  return { host, basePath: '', corsOrigins, quota: true, health: false } satisfies Partial<Mount>
}
