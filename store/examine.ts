/** Examines a store's database without changing it. */
import { nanoid } from 'nanoid'
import { type DatabaseOptions, openDatabase } from './database/database.ts'
import { hasCluster, requirePostgres } from './embedded/cluster.ts'
import { readSchemaVersion, schemaVersion } from './migrations/migrate.ts'
import { isUnbound } from './postgres/connect.ts'
import { transactionEach } from './postgres/tenant.ts'
import { createSealedSecrets } from './sealed-secrets.ts'
import { createSealer, type MasterKeys } from './sealing/sealed.ts'
import { applicationName } from './sharing/instances.ts'

/**
 * `missing`: there is no embedded database yet. `outdated`: the schema is older than this version's. `isUnbound`: the
 * database role bypasses row level security. `unreadable` counts secrets sealed with another master key.
 */
export type StoreState =
  | { state: 'missing' }
  | { state: 'ready' | 'outdated'; schema: number; isUnbound: boolean; unreadable: number }

/** Examines the store and changes nothing. It starts an embedded Postgres and stops it afterwards. */
export async function examineStore(
  options: Omit<DatabaseOptions, 'prepares'>,
  masterKeys: MasterKeys,
): Promise<StoreState> {
  if (options.databaseUrl === null && !hasCluster(options.dataDir)) {
    requirePostgres()
    return { state: 'missing' }
  }
  const opened = await openDatabase({ ...options, prepares: false }, applicationName(nanoid()), 1)
  try {
    const { tenant } = opened.pools
    const schema = await readSchemaVersion(tenant)
    const details = { schema, isUnbound: await isUnbound(tenant, opened.target) }
    if (schema < schemaVersion) return { state: 'outdated', ...details, unreadable: 0 }
    const sealed = createSealedSecrets(transactionEach(tenant), () => createSealer(masterKeys))
    return { state: 'ready', ...details, unreadable: await sealed.unreadable() }
  } finally {
    await opened.close(opened.hasStartedServer)
  }
}
