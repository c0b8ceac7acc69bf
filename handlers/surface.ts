import type { Log } from '../domain/ports/system.ts'
import type { Mount } from '../runtime/engine/options.ts'

/** The settings for serving one API (a surface in the glossary), such as the router API or the platform API. */
export type SurfaceSettings = {
  /** The host name that serves only this API. Null if the API is served on every host. */
  host: string | null
  /** Replaces `Service` in names of headers and subprotocols. */
  headerPrefix: string
  corsOrigins: readonly string[]
  log: Log
  /** Counts an error by its code. */
  count: (code: string) => void
}

/** Returns the settings that the mounts of all HTTP APIs share. */
export function mountOf({ host, corsOrigins }: SurfaceSettings) {
  return { host, basePath: '', corsOrigins, quota: true, health: false } satisfies Partial<Mount>
}
