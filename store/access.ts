/** Makes the store's repositories for organizations, users, API keys and provider keys. */
import type { KeyAdministration } from '../domain/access/api-keys.ts'
import type { LiveKeys, UsedTokens } from '../domain/access/ephemeral.ts'
import type { ProviderKeyAdministration } from '../domain/access/provider-keys.ts'
import type { KeyChanges, LiveCallers } from '../domain/access/revocations.ts'
import type { Clock, Log } from '../domain/ports/system.ts'
import type { Keys } from '../domain/records/organization.ts'
import type { Loop } from '../runtime/timing/loops.ts'
import { createKeyAdministration } from './access/api-keys.ts'
import { createKeys, createLiveKeys, type ReadStoredPolicy } from './access/keys.ts'
import type { KeyCacheLimits } from './access/known-callers.ts'
import { createOrganizations, type Organizations } from './access/organizations.ts'
import { createProviderKeys, type StoredProviderKeys } from './access/provider-keys.ts'
import { createUsers, sweepCredentials } from './access/users.ts'
import { type AgentRecords, createAgentRecords } from './agents/agent-records.ts'
import { type BootstrapOptions, type BootstrapOutcome, bootstrap } from './bootstrap.ts'
import { createOrganizationNotices, type OrganizationNotices } from './caches/organization-notices.ts'
import { createPeople, type People } from './people.ts'
import type { Pools } from './postgres/connect.ts'
import { type Tenancy, transactionEach, transactionFor } from './postgres/tenant.ts'
import { createSealedSecrets, type SealedSecrets, tendSecrets } from './sealed-secrets.ts'
import { createSealer, type MasterKeys, type Sealer } from './sealing/sealed.ts'
import { createUsedTokens } from './sharing/used-tokens.ts'
import { createSignInRecords, type SignInRecords, signInLoops } from './sign-in/sign-in-records.ts'
import { createWebhookAccess, type WebhookAccess } from './webhooks/webhook-access.ts'

export type AccessOptions = KeyCacheLimits & {
  clock: Clock
  log: Log
  readPolicy: ReadStoredPolicy
  /** Makes an id, a UUIDv7. */
  newId: () => string
  /** Called when the first secret is sealed or opened, so a server without sealed secrets needs no master key. */
  masterKeys: () => MasterKeys
}

/** Repositories in one transaction for one organization. A method throws if it is called for another organization. */
export type Repositories = {
  keys: KeyAdministration
  organizations: Pick<Organizations, 'addCredit'>
  providerKeys: ProviderKeyAdministration
}

export type Access = WebhookAccess &
  AgentRecords &
  SignInRecords &
  People & {
    keys: Keys & LiveKeys & LiveCallers & KeyChanges & KeyAdministration & { waiting(): number }
    organizations: Organizations &
      Pick<OrganizationNotices, 'watch'> & {
        /** If the store is empty, creates the organization `local` with this key and all scopes. */
        bootstrap(options: BootstrapOptions): Promise<BootstrapOutcome>
      }
    providerKeys: StoredProviderKeys
    sealedSecrets: SealedSecrets
    usedTokens: UsedTokens
    users: ReturnType<typeof createUsers>
    /**
     * Commits all writes by `work`, or rolls them back if `work` fails. Other connections see them after the commit.
     */
    transaction<T>(organizationId: string, work: (repositories: Repositories) => Promise<T>): Promise<T>
  }

const sweepEveryMs = 60_000

export type AccessParts = {
  access: Access
  sealer: () => Sealer
  loops: readonly Loop[]
  listen(): Promise<void>
  /** Writes to the database when each key was last used. */
  noteUse(): Promise<void>
}

/** `spent` stores used ephemeral tokens. If it is null, the database stores them. */
export function createAccess({ system, tenant }: Pools, options: AccessOptions, spent: UsedTokens | null): AccessParts {
  const { clock, log, newId } = options
  const each = transactionEach(tenant)
  const checked = createKeys(system, options)
  const notices = createOrganizationNotices(system)
  let made: Sealer | null = null
  const sealer = () => (made ??= createSealer(options.masterKeys()))
  const sealed = createProviderKeys(system, each, {
    ...options,
    sealer,
    forget: (organizationId) => checked.forget({ organizationId }),
  })
  const sealedSecrets = createSealedSecrets(each, sealer)
  const stored = createUsedTokens(system, each, clock)
  const on = (tenancy: Tenancy) => ({
    keys: createKeyAdministration(tenancy, clock, options.readPolicy),
    organizations: createOrganizations(tenancy, clock),
  })
  const { keys, organizations } = on(each)
  const access: Access = {
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
    ...createAgentRecords(each, sealer, clock),
    ...createWebhookAccess(each, sealer, clock),
    sealedSecrets,
    usedTokens: spent ?? stored,
    users: createUsers(each, clock),
    ...createSignInRecords(each, clock, (change) => checked.forget(change)),
    ...createPeople(each, clock),
    transaction: async (organizationId, work) =>
      transactionFor(tenant, organizationId, (tenancy) =>
        work({ ...on(tenancy), providerKeys: sealed.administration(tenancy) }),
      ),
  }
  const loops: Loop[] = [
    {
      name: 'sealed secrets',
      everyMs: sweepEveryMs,
      run: async () => {
        sealed.keys.sweep()
        await tendSecrets(sealedSecrets, log)
      },
    },
    { name: 'last use of keys', everyMs: sweepEveryMs, run: () => checked.noteUse() },
    { name: 'expired credentials', everyMs: sweepEveryMs, run: () => sweepCredentials(system, clock) },
    ...signInLoops(system, clock),
    { name: 'used tokens', everyMs: sweepEveryMs, run: () => stored.sweep() },
  ]
  const listen = async () => {
    await checked.listen()
    await notices.listen()
  }
  return { access, sealer, loops, listen, noteUse: () => checked.noteUse() }
}
