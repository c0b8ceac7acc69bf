/** The part of the store that knows organizations and their keys of both kinds. */
import type { LiveKeys, UsedTokens } from '../domain/access/ephemeral.ts'
import type { Keys } from '../domain/access/organization.ts'
import type { ProviderKeyAdministration } from '../domain/access/provider-keys.ts'
import type { AgentStore } from '../domain/agents/agent.ts'
import type { ToolStore } from '../domain/agents/tool.ts'
import type { Clock, Log } from '../domain/ports/system.ts'
import type { Loop } from '../runtime/loops.ts'
import { createToolStore, sealedTools } from './agent-tools.ts'
import { createAgentStore } from './agents.ts'
import { createKeyAdministration, type KeyAdministration } from './api-keys.ts'
import { type BootstrapOutcome, bootstrap } from './bootstrap.ts'
import { sealedCalls } from './calls.ts'
import type { Pools } from './connect.ts'
import { createKeys, createLiveKeys, type KeyCacheLimits, type ReadStoredPolicy } from './keys.ts'
import { createOrganizations, type Organizations } from './organizations.ts'
import { createProviderKeys, type StoredProviderKeys, sealedProviderKeys } from './provider-keys.ts'
import { countUnreadable, type Resealed, resealTable } from './reseal.ts'
import { createSealer, type MasterKeys, type Sealer } from './sealed.ts'
import { type Tenancy, transactionEach, transactionFor } from './tenant.ts'
import { createUsedTokens } from './used-tokens.ts'

export type AccessOptions = KeyCacheLimits & {
  clock: Clock
  log: Log
  readPolicy: ReadStoredPolicy
  /** The keys that secrets are sealed with; asked for when the first secret is. */
  masterKeys: () => MasterKeys
}

/** Repositories that share one transaction of one organization. A call for another organization is refused. */
export type Repositories = {
  keys: KeyAdministration
  organizations: Pick<Organizations, 'addCredit'>
  providerKeys: ProviderKeyAdministration
}

export type Access = {
  keys: Keys & LiveKeys & KeyAdministration
  organizations: Organizations & {
    /** On an empty store: an organization `local` that may do everything, with this key. */
    bootstrap(options: { key: string }): Promise<BootstrapOutcome>
  }
  providerKeys: StoredProviderKeys
  agents: AgentStore
  tools: ToolStore
  sealedSecrets: SealedSecrets
  usedTokens: UsedTokens
  /** Commits all that `work` does, or nothing when it fails. Nothing of it is seen elsewhere before. */
  transaction<T>(organizationId: string, work: (repositories: Repositories) => Promise<T>): Promise<T>
}

/** All secrets at rest: provider keys, and the secrets of tools and of live calls. */
export type SealedSecrets = {
  /** Moves them to the current master key. */
  reseal(): Promise<Resealed>
  /** How many were sealed with a master key that this process does not have. */
  unreadable(): Promise<number>
}

const sweepEveryMs = 60_000

export type AccessParts = {
  access: Access
  sealer: () => Sealer
  loops: readonly Loop[]
  listen(): Promise<void>
  /** Writes which keys were used. */
  noteUse(): Promise<void>
}

export function createAccess({ system, tenant }: Pools, options: AccessOptions): AccessParts {
  const { clock, log } = options
  const each = transactionEach(tenant)
  const checked = createKeys(system, options)
  let made: Sealer | null = null
  const sealer = () => (made ??= createSealer(options.masterKeys()))
  const sealed = createProviderKeys(system, each, {
    ...options,
    sealer,
    forget: (organizationId) => checked.forget({ organizationId }),
  })
  const sealedSecrets = createSealedSecrets(each, sealer)
  const usedTokens = createUsedTokens(system, each, clock)
  const on = (tenancy: Tenancy) => ({
    keys: createKeyAdministration(tenancy, clock, options.readPolicy),
    organizations: createOrganizations(tenancy, clock),
  })
  const { keys, organizations } = on(each)
  const access: Access = {
    keys: { ...keys, ...createLiveKeys(each, options), verify: (secret) => checked.verify(secret) },
    organizations: { ...organizations, bootstrap: async ({ key }) => bootstrap(tenant, key, on) },
    providerKeys: sealed.keys,
    agents: createAgentStore(each),
    tools: createToolStore(each, sealer),
    sealedSecrets,
    usedTokens,
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
    { name: 'used tokens', everyMs: sweepEveryMs, run: () => usedTokens.sweep() },
  ]
  return { access, sealer, loops, listen: () => checked.listen(), noteUse: () => checked.noteUse() }
}

function createSealedSecrets(tenancy: Tenancy, sealer: () => Sealer): SealedSecrets {
  return {
    async reseal() {
      const keys = await resealTable(tenancy, sealer(), sealedProviderKeys)
      const tools = await resealTable(tenancy, sealer(), sealedTools)
      const calls = await resealTable(tenancy, sealer(), sealedCalls)
      return {
        resealed: keys.resealed + tools.resealed + calls.resealed,
        failed: keys.failed + tools.failed + calls.failed,
      }
    },
    async unreadable() {
      const keys = await countUnreadable(tenancy, sealer(), sealedProviderKeys.table)
      const tools = await countUnreadable(tenancy, sealer(), sealedTools.table)
      return keys + tools + (await countUnreadable(tenancy, sealer(), sealedCalls.table))
    },
  }
}

/**
 * After a change of the master key every process moves what it finds; the key before it can be taken away once
 * nothing is found.
 */
async function tendSecrets(secrets: SealedSecrets, log: Log): Promise<void> {
  const { resealed, failed } = await secrets.reseal()
  if (resealed > 0) log.info({ resealed }, 'sealed secrets were moved to the current master key')
  if (failed > 0) log.error({ failed }, 'sealed secrets do not open with the master key that sealed them')
}
