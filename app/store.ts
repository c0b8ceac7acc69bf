/** Opens the store with the configuration. */
import type { ParleyConfig } from '../generated/config/types.ts'
import { readStoredPolicy } from '../handlers/key-policy.ts'
import { eventPayloads } from '../handlers/platform/event-payloads.ts'
import { createLog } from '../runtime/telemetry/log.ts'
import { systemClock, systemIds } from '../runtime/timing/clock.ts'
import { openStore, type Store, type StoreOptions } from '../store/store.ts'
import type { App } from './app.ts'
import { existingMasterKey, masterKeyOf } from './secrets.ts'

/** The context's members opened before the store. */
type AppBeforeStore = Pick<App, 'config' | 'clock' | 'ids' | 'log' | 'secrets' | 'recordingLinks'>

/**
 * Opens the store for a server. Makes the embedded database and the schema if they are missing, and registers this
 * process among the instances that share the concurrency limits.
 */
export function openServingStore(app: AppBeforeStore, progress: (message: string) => void): Promise<Store> {
  const { config, clock, ids, log, secrets, recordingLinks } = app
  return openStore({
    ...optionsOf(config),
    clock,
    newId: ids.session,
    log,
    progress,
    serves: true,
    prepares: true,
    masterKeys: () => ({ current: secrets.masterKey, previous: config.previousMasterKeys }),
    events: { payloads: eventPayloads, recordingUrl: recordingLinks.urlOf },
  })
}

/** Opens the store for the operator's commands. Does not make a missing database or schema. */
export function openCommandStore(config: ParleyConfig): Promise<Store> {
  const masterKeys = () => ({ current: existingMasterKey(config), previous: config.previousMasterKeys })
  return openStore({ ...commandOptions(config), prepares: false, masterKeys, progress: () => {} })
}

/** Makes the embedded database and the schema if they are missing. Serves no requests. */
export async function migrateStore(config: ParleyConfig): Promise<void> {
  const masterKeys = () => ({ current: masterKeyOf(config), previous: config.previousMasterKeys })
  const store = await openStore({ ...commandOptions(config), prepares: true, masterKeys, progress: console.error })
  await store.close({ stopPostgres: true })
}

function commandOptions(config: ParleyConfig) {
  const now = { clock: systemClock, newId: systemIds.session, log: createLog('warn') }
  // `events` is null, because no command causes webhook events. A command waits for the database without a deadline.
  return { ...optionsOf(config), ...now, serves: false, events: null, deadlineMs: null }
}

const dayMs = 86_400_000

function optionsOf(config: ParleyConfig) {
  const { connectionsMax, keyCacheMs, keyCacheMax, keysKeptS, deadlineMs, journalBytesMax, choiceDays } = config.store
  const { leaseMs, retentionS } = config.idempotency
  return {
    databaseUrl: config.databaseUrl,
    redisUrl: config.redisUrl,
    dataDir: config.dataDir,
    readPolicy: readStoredPolicy,
    connectionsMax,
    idempotency: { leaseMs, retentionMs: retentionS * 1000 },
    choiceRetentionMs: choiceDays * dayMs,
    retention: config.retention,
    keyCacheMs,
    keyCacheMax,
    keysKeptMs: keysKeptS * 1000,
    deadlineMs,
    journalBytesMax,
  } satisfies Partial<StoreOptions>
}
