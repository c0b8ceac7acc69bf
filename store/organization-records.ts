/** Makes the store's repositories for organizations with their API keys and provider keys. */
import type { KeyAdministration } from '../domain/access/api-keys.ts'
import type { LiveKeys } from '../domain/access/ephemeral.ts'
import type { ProviderKeyAdministration } from '../domain/access/provider-keys.ts'
import type { KeyChanges, LiveCallers } from '../domain/access/revocations.ts'
import type { Clock, Log } from '../domain/ports/system.ts'
import type { Keys } from '../domain/records/organization.ts'
import { createKeyAdministration } from './access/api-keys.ts'
import type { Forget } from './access/credentials.ts'
import { createKeys, createLiveKeys, type ReadStoredPolicy } from './access/keys.ts'
import type { KeyCacheLimits } from './access/known-callers.ts'
import { createOrganizations, type Organizations } from './access/organizations.ts'
import { createProviderKeys, type StoredProviderKeys } from './access/provider-keys.ts'
import { type BootstrapOptions, type BootstrapOutcome, bootstrap } from './bootstrap.ts'
import { createOrganizationNotices, type OrganizationNotices } from './caches/organization-notices.ts'
import type { Pools } from './postgres/connect.ts'
import { type Tenancy, transactionEach, transactionFor } from './postgres/tenant.ts'
import type { Sealer } from './sealing/sealed.ts'

export type OrganizationOptions = KeyCacheLimits & {
  clock: Clock
  log: Log
  readPolicy: ReadStoredPolicy
  /** Makes an id, a UUIDv7. */
  newId: () => string
}

/** Repositories in one transaction for one organization. A method throws if it is called for another organization. */
export type Repositories = {
  keys: KeyAdministration
  organizations: Pick<Organizations, 'addCredit'>
  providerKeys: ProviderKeyAdministration
}

export type OrganizationRecords = {
  keys: Keys & LiveKeys & LiveCallers & KeyChanges & KeyAdministration & { waiting(): number }
  organizations: Organizations &
    Pick<OrganizationNotices, 'watch'> & {
      /** If the store is empty, creates the organization `local` with this key and all scopes. */
      bootstrap(options: BootstrapOptions): Promise<BootstrapOutcome>
    }
  providerKeys: StoredProviderKeys
  /**
   * Commits all writes by `work`, or rolls them back if `work` fails. Other connections see them after the commit.
   */
  transaction<T>(organizationId: string, work: (repositories: Repositories) => Promise<T>): Promise<T>
}

export type OrganizationParts = {
  records: OrganizationRecords
  listen(): Promise<void>
  /** Drops cached API keys in this process. */
  forget: Forget
  /** Writes to the database when each key was last used. */
  noteUse(): Promise<void>
}

export function createOrganizationRecords(
  { system, tenant }: Pools,
  sealer: () => Sealer,
  options: OrganizationOptions,
): OrganizationParts {
  const { clock, newId } = options
  const each = transactionEach(tenant)
  const checked = createKeys(system, options)
  const notices = createOrganizationNotices(system)
  const sealed = createProviderKeys(system, each, {
    ...options,
    sealer,
    forget: (organizationId) => checked.forget({ organizationId }),
  })
  const on = (tenancy: Tenancy) => ({
    keys: createKeyAdministration(tenancy, clock, options.readPolicy),
    organizations: createOrganizations(tenancy, clock),
  })
  const { keys, organizations } = on(each)
  return {
    records: {
      keys: {
        ...keys,
        ...createLiveKeys(each, options),
        verify: (secret) => checked.verify(secret),
        watch: (changed) => checked.watch(changed),
        waiting: () => checked.waiting(),
      },
      organizations: {
        ...organizations,
        watch: (changed) => notices.watch(changed),
        bootstrap: async (first) => bootstrap(tenant, first, { newId, repositoriesOn: on }),
      },
      providerKeys: sealed.keys,
      transaction: async (organizationId, work) =>
        transactionFor(tenant, organizationId, (tenancy) =>
          work({ ...on(tenancy), providerKeys: sealed.administration(tenancy) }),
        ),
    },
    listen: async () => {
      await checked.listen()
      await notices.listen()
    },
    forget: (change) => checked.forget(change),
    noteUse: () => checked.noteUse(),
  }
}
