/** Joins the store's repositories for who may use the server: organizations, keys, people, and what they set up. */
import type { UsedTokens } from '../domain/access/ephemeral.ts'
import type { Loop } from '../runtime/timing/loops.ts'
import { createUsers, sweepCredentials } from './access/users.ts'
import { type AgentRecords, createAgentRecords } from './agents/agent-records.ts'
import {
  createOrganizationRecords,
  type OrganizationOptions,
  type OrganizationRecords,
} from './organization-records.ts'
import { createPeople, type People } from './people.ts'
import type { Pools } from './postgres/connect.ts'
import { transactionEach } from './postgres/tenant.ts'
import { createSealedSecrets, type SealedSecrets, tendSecrets } from './sealed-secrets.ts'
import { createSealer, type MasterKeys, type Sealer } from './sealing/sealed.ts'
import { createUsedTokens } from './sharing/used-tokens.ts'
import { createSignInRecords, type SignInRecords, signInLoops } from './sign-in/sign-in-records.ts'
import { createWebhookAccess, type WebhookAccess } from './webhooks/webhook-access.ts'

export type AccessOptions = OrganizationOptions & {
  /** Called when the first secret is sealed or opened, so a server without sealed secrets needs no master key. */
  masterKeys: () => MasterKeys
}

export type Access = OrganizationRecords &
  WebhookAccess &
  AgentRecords &
  SignInRecords &
  People & {
    sealedSecrets: SealedSecrets
    usedTokens: UsedTokens
    users: ReturnType<typeof createUsers>
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
export function createAccess(pools: Pools, options: AccessOptions, spent: UsedTokens | null): AccessParts {
  const { system } = pools
  const { clock, log } = options
  const each = transactionEach(pools.tenant)
  let made: Sealer | null = null
  const sealer = () => (made ??= createSealer(options.masterKeys()))
  const ofOrganizations = createOrganizationRecords(pools, sealer, options)
  const sealedSecrets = createSealedSecrets(each, sealer)
  const stored = createUsedTokens(system, each, clock)
  const access: Access = {
    ...ofOrganizations.records,
    ...createAgentRecords(each, sealer, clock),
    ...createWebhookAccess(each, sealer, clock),
    sealedSecrets,
    usedTokens: spent ?? stored,
    users: createUsers(each, clock),
    ...createSignInRecords(each, clock, ofOrganizations.forget),
    ...createPeople(each, clock),
  }
  const loops: Loop[] = [
    {
      name: 'sealed secrets',
      everyMs: sweepEveryMs,
      run: async () => {
        access.providerKeys.sweep()
        await tendSecrets(sealedSecrets, log)
      },
    },
    { name: 'last use of keys', everyMs: sweepEveryMs, run: () => ofOrganizations.noteUse() },
    { name: 'expired credentials', everyMs: sweepEveryMs, run: () => sweepCredentials(system, clock) },
    ...signInLoops(system, clock),
    { name: 'used tokens', everyMs: sweepEveryMs, run: () => stored.sweep() },
  ]
  return {
    access,
    sealer,
    loops,
    listen: () => ofOrganizations.listen(),
    noteUse: () => ofOrganizations.noteUse(),
  }
}
