/** A serving process's context. Its parts take the context as their first argument. app/context.ts makes it. */

import type { Revocations } from '../domain/access/revocations.ts'
import type { RecordingLinks as SignedLinks } from '../domain/calls/recording-links.ts'
import type { Clock } from '../domain/ports/system.ts'
import type { RecordingBucket, RecordingPlace } from '../domain/records/recording.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import type { Environment } from '../runtime/process/config.ts'
import type { Owners } from '../runtime/shares/owners.ts'
import type { Logger } from '../runtime/telemetry/log.ts'
import type { ProcessMetrics } from '../runtime/telemetry/metrics.ts'
import type { Tracing } from '../runtime/telemetry/tracing.ts'
import type { Ids } from '../runtime/timing/clock.ts'
import type { Store } from '../store/store.ts'

export type App = {
  config: ParleyConfig
  env: Environment
  /** The process's number: 0 for the first process on the port, then 1, 2 and so on. */
  worker: number
  clock: Clock
  ids: Ids
  /** Returns a number from 0 up to, but not including, 1. */
  random: () => number
  log: Logger
  metrics: ProcessMetrics
  /** Null if the server sends no spans. */
  tracing: Tracing | null
  /** The master key seals stored secrets, and signs links and tokens. */
  secrets: { masterKey: string }
  /** The server's URL for programs on this machine. Throws if the server does not listen yet. */
  localUrl: () => string
  recordingLinks: RecordingLinks
  store: Store
  /**
   * Records whether several organizations use this server. Only then do limited resources reserve a part for other
   * organizations.
   */
  owners: Owners
  revocations: Revocations
  /** Adds a function to run when the process ends. The last added function runs first. */
  closing: (close: () => unknown) => void
}

/** Makes recordings' URLs. The store needs them for call events. */
export type RecordingLinks = {
  bucket: RecordingBucket | null
  signed: SignedLinks
  /**
   * Makes a link to a finished recording, valid for seven days. Does not check if the recording exists, because the
   * recording's database row states this. Rejects if the server does not listen yet, because a link needs the server's
   * URL.
   */
  urlOf: (place: RecordingPlace) => Promise<string>
}
