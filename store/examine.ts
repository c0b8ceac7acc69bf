/** Looks at the database of a store without a change of it. */
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
 * The store that a start would find. `missing`: there is no embedded database yet. `outdated`: the schema is older.
 * `isUnbound`: row level security does not bind the database role. `unreadable`: how many secrets were sealed with another
 * master key.
 */
export type StoreState =
  | { state: 'missing' }
  | { state: 'ready' | 'outdated'; schema: number; isUnbound: boolean; unreadable: number }

/** Makes and changes nothing, but starts an embedded Postgres for the time of the question. */
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
    const found = { schema, isUnbound: await isUnbound(tenant, opened.target) }
    if (schema < schemaVersion) return { state: 'outdated', ...found, unreadable: 0 }
    const sealed = createSealedSecrets(transactionEach(tenant), () => createSealer(masterKeys))
    return { state: 'ready', ...found, unreadable: await sealed.unreadable() }
  } finally {
    await opened.close(opened.hasStartedServer)
  }
}
