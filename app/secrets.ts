/** Keeps secrets in the data folder if the settings have no value for them. */
import { randomBytes } from 'node:crypto'
import type { ParleyConfig } from '../generated/config/types.ts'
import { ConfigError } from '../runtime/process/config.ts'
import { localSecret, readLocalSecret } from '../runtime/process/local-secret.ts'

/** The data folder's file with the master key, if the settings contain no master key. */
const masterKeyFile = 'master.key'

export function masterKeyOf(config: ParleyConfig): string {
  const make = () => randomBytes(32).toString('base64url')
  return config.masterKey ?? localSecretOf(config, 'PARLEY_MASTER_KEY', masterKeyFile, make)
}

/** Returns the master key for a command. It makes no key, because servers could not open values sealed with it. */
export function existingMasterKey({ masterKey, dataDir }: ParleyConfig): string {
  const key = masterKey ?? readLocalSecret(dataDir, masterKeyFile)
  if (key !== null) return key
  throw new ConfigError(`PARLEY_MASTER_KEY: is not set, and ${dataDir} holds none`)
}

/** Returns the master key for examining the store. If there is no key, returns '', and sealed values cannot be read. */
export const masterKeyOrEmpty = ({ masterKey, dataDir }: ParleyConfig) =>
  masterKey ?? readLocalSecret(dataDir, masterKeyFile) ?? ''

/**
 * Reads or makes a secret in the data folder. If no file can be written, throws ConfigError with the variable to set.
 */
export function localSecretOf({ dataDir }: ParleyConfig, variable: string, file: string, make: () => string): string {
  try {
    return localSecret(dataDir, file, make)
  } catch (cause) {
    throw new ConfigError(
      `${variable}: is not set, and none can be kept in ${dataDir}: set it, or name a folder that can be written with PARLEY_DATA_DIR`,
      { cause },
    )
  }
}
