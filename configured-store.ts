/** The store as the configuration has it, and the secrets that are kept in the data folder where none are set. */
import { randomBytes } from 'node:crypto'
import type { ParleyConfig } from './generated/config/types.ts'
import { readStoredPolicy } from './handlers/key-policy.ts'
import { systemClock } from './runtime/clock.ts'
import { ConfigError } from './runtime/config.ts'
import { localSecret, readLocalSecret } from './runtime/local-secret.ts'
import type { createLog } from './runtime/log.ts'
import { openStore, type Store } from './store/store.ts'

type Log = ReturnType<typeof createLog>

/**
 * `serve` and `migrate` make the embedded database and the schema where they are missing, `command` never does. Only a
 * store that serves takes a share of the limits.
 */
export function openConfiguredStore(
  config: ParleyConfig,
  log: Log,
  progress: (message: string) => void,
  purpose: 'serve' | 'migrate' | 'command',
): Promise<Store> {
  const { connectionsMax, keyCacheMs, keyCacheMax, choiceDays } = config.store
  const { leaseMs, retentionS } = config.idempotency
  return openStore({
    databaseUrl: config.databaseUrl,
    redisUrl: config.redisUrl,
    dataDir: config.dataDir,
    progress,
    log,
    clock: systemClock,
    serves: purpose === 'serve',
    prepares: purpose !== 'command',
    readPolicy: readStoredPolicy,
    connectionsMax,
    idempotency: { leaseMs, retentionMs: retentionS * 1000 },
    masterKeys: () => ({
      current: purpose === 'command' ? existingMasterKey(config) : masterKeyOf(config),
      previous: config.previousMasterKeys,
    }),
    choicesKeptMs: choiceDays * dayMs,
    retention: config.retention,
    keyCacheMs,
    keyCacheMax,
  })
}

const dayMs = 86_400_000
/** The file in the data folder with the master key of a local run. */
const masterKeyFile = 'master.key'

export function masterKeyOf(config: ParleyConfig): string {
  const make = () => randomBytes(32).toString('base64url')
  return config.masterKey ?? keptSecret(config, 'PARLEY_MASTER_KEY', masterKeyFile, make)
}

/** For a command, which must not seal anything with a key that no server has. */
function existingMasterKey({ masterKey, dataDir }: ParleyConfig): string {
  const key = masterKey ?? readLocalSecret(dataDir, masterKeyFile)
  if (key !== null) return key
  throw new ConfigError(`PARLEY_MASTER_KEY: is not set, and ${dataDir} holds none`)
}

/** Where no file can be written, the variable has to be set. */
export function keptSecret({ dataDir }: ParleyConfig, variable: string, file: string, make: () => string): string {
  try {
    return localSecret(dataDir, file, make)
  } catch (cause) {
    throw new ConfigError(
      `${variable}: is not set, and none can be kept in ${dataDir}: set it, or name a folder that can be written with PARLEY_DATA_DIR`,
      { cause },
    )
  }
}
