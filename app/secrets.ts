/** The secrets that are kept in the data folder if the settings have none. */
import { randomBytes } from 'node:crypto'
import type { ParleyConfig } from '../generated/config/types.ts'
import { ConfigError } from '../runtime/process/config.ts'
import { localSecret, readLocalSecret } from '../runtime/process/local-secret.ts'

/** The file in the data folder with the master key of a local run. */
const masterKeyFile = 'master.key'

export function masterKeyOf(config: ParleyConfig): string {
  const make = () => randomBytes(32).toString('base64url')
  return config.masterKey ?? keptSecret(config, 'PARLEY_MASTER_KEY', masterKeyFile, make)
}

/** For a command, which must not seal anything with a key that no server has. */
export function existingMasterKey({ masterKey, dataDir }: ParleyConfig): string {
  const key = masterKey ?? readLocalSecret(dataDir, masterKeyFile)
  if (key !== null) return key
  throw new ConfigError(`PARLEY_MASTER_KEY: is not set, and ${dataDir} holds none`)
}

/** For a look at the store: without a key nothing that is sealed can be read. */
export const knownMasterKey = ({ masterKey, dataDir }: ParleyConfig) =>
  masterKey ?? readLocalSecret(dataDir, masterKeyFile) ?? ''

/** Throws ConfigError, which names the variable to set, if no file can be written. */
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
