/** Makes the first organization in the store at the start, and checks that the stored secrets can be decrypted. */
import type { ParleyConfig } from '../generated/config/types.ts'
import { localKeyFile, readLocalSecret, removeLocalSecret } from '../runtime/process/local-secret.ts'
import { newSecret } from '../store/access/key-secret.ts'
import type { App } from './app.ts'
import { isReachedHereOnly } from './first-run.ts'
import { localSecretOf } from './secrets.ts'

/**
 * The first API key: `local` was generated for this local run and may be printed, `named` is in the configuration,
 * `stored` was made earlier, `none` does not exist.
 */
export type FirstKey = { kind: 'local'; key: string } | { kind: 'named' | 'stored' | 'none' }

/**
 * Makes the first organization and API key in an empty store, if only this machine can reach the server or the
 * configuration names the key. A generated key is stored in the data folder for the command line.
 */
export async function bootstrap({ config, store, log }: Pick<App, 'config' | 'store' | 'log'>): Promise<FirstKey> {
  const { organizations } = store
  const hasSimulatedNumber = config.carrier.adapter === 'simulator'
  if (config.bootstrapKey !== null) {
    const outcome = await organizations.bootstrap({ key: config.bootstrapKey, hasSimulatedNumber })
    if (outcome === 'refused')
      log.warn({}, 'PARLEY_BOOTSTRAP_KEY works on an empty store only, and this one has organizations already')
    return { kind: outcome === 'refused' ? 'stored' : 'named' }
  }
  const isEmpty = await organizations.isEmpty()
  const withoutKey = { kind: isEmpty ? 'none' : 'stored' } as const
  if (!isReachedHereOnly(config)) return withoutKey
  const existingKey = readLocalSecret(config.dataDir, localKeyFile)
  if (existingKey === null && !isEmpty) return withoutKey
  const key = localSecretOf(config, 'PARLEY_BOOTSTRAP_KEY', localKeyFile, () => newSecret(false).secret)
  if ((await organizations.bootstrap({ key, hasSimulatedNumber })) !== 'refused') return { kind: 'local', key }
  // Another instance with a different data folder made the first key. The key in this folder is not valid, so the
  // command line must not find it.
  if (existingKey === null) removeLocalSecret(config.dataDir, localKeyFile)
  return { kind: 'stored' }
}

/**
 * Logs stored secrets that cannot be decrypted. The start logs them, because requests do not show the problem: they are
 * routed to another provider.
 */
export async function checkSealed({ store, log }: Pick<App, 'store' | 'log'>): Promise<void> {
  const unreadable = await store.sealedSecrets.unreadable()
  if (unreadable > 0)
    log.error(
      { unreadable },
      'provider keys or secrets of tools were sealed with another master key: set PARLEY_MASTER_KEY to it, or name it in PARLEY_PREVIOUS_MASTER_KEYS',
    )
}

/**
 * Returns the API key that a first local run made. Null if the data folder has no key, or if other machines can reach
 * the server.
 */
export function localKeyOf(config: ParleyConfig): string | null {
  return isReachedHereOnly(config) ? readLocalSecret(config.dataDir, localKeyFile) : null
}
