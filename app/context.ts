/**
 * Makes a serving process's context, in the order of the members in `App`. If a member cannot be opened, the earlier
 * members are closed, newest first.
 */
import { Revocations } from '../domain/access/revocations.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import type { Environment } from '../runtime/process/config.ts'
import { workerVariable } from '../runtime/process/workers.ts'
import { createLog } from '../runtime/telemetry/log.ts'
import { createMetrics } from '../runtime/telemetry/metrics.ts'
import { createTracing } from '../runtime/telemetry/tracing.ts'
import { createIds, systemClock } from '../runtime/timing/clock.ts'
import type { App } from './app.ts'
import { createClosings } from './closings.ts'
import { openOwners } from './owners.ts'
import { openRecordingLinks } from './recordings.ts'
import { masterKeyOf } from './secrets.ts'
import { openServingStore } from './store.ts'

/** Replacements for the context's parts. Tests pass their clock, for example. */
export type Replacements = Partial<Pick<App, 'clock' | 'ids' | 'random' | 'log'>>

export type Opening = {
  env: Environment
  /** Receives a progress message for the terminal if the start is slow. */
  progress: (message: string) => void
  localUrl: () => string
}

/**
 * An open context with its close functions. `closeFor` closes after a failed start: it throws the start's error and
 * logs close errors.
 */
export type OpenApp = { app: App; close: () => Promise<void>; closeFor: (error: unknown) => Promise<never> }

export async function openApp(
  config: ParleyConfig,
  { env, progress, localUrl }: Opening,
  replacements: Replacements = {},
): Promise<OpenApp> {
  const { clock = systemClock, random = Math.random, log = createLog(config.logLevel) } = replacements
  const { closing, close } = createClosings()
  const closeFor = async (error: unknown) => {
    await close().catch((err: unknown) => log.error({ err }, 'what a failed start had opened is not closed'))
    throw error
  }
  const opened = {
    config,
    env,
    worker: Number(env[workerVariable] ?? 0),
    clock,
    ids: replacements.ids ?? createIds(clock),
    random,
    log,
    metrics: createMetrics(),
    // The key is read before the migrations run, so that a start without the key leaves the database unchanged.
    secrets: { masterKey: masterKeyOf(config) },
    localUrl,
    closing,
  }
  try {
    const tracing = await createTracing(env, clock)
    closing(() => tracing?.close())
    const recordingLinks = await openRecordingLinks(opened)
    closing(() => recordingLinks.bucket?.close())
    const store = await openServingStore({ ...opened, recordingLinks }, progress)
    closing(() => store.close({ stopPostgres: true }))
    const owners = await openOwners({ ...opened, store })
    const revocations = new Revocations({ changes: store.keys, keys: store.keys, clock, log })
    closing(() => revocations.close())
    return { app: { ...opened, tracing, recordingLinks, store, owners, revocations }, close, closeFor }
  } catch (error) {
    return closeFor(error)
  }
}
