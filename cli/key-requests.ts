/** Runs the command `keys` over the API: an organization administers its own keys. */
import type { PlatformClient } from '../generated/clients/typescript/platform.ts'
import type { ApiKey, NewApiKey } from '../generated/platform/types.ts'
import type { KeyCommands, KeyRow } from './admin-keys.ts'
import type { Budget } from './budget-option.ts'
import { keyIn } from './key-name.ts'

/** The client's key names the organization, so the methods ignore their argument `organization`. */
export function createKeyRequests(client: PlatformClient, nowMs: () => number): KeyCommands {
  const listed = async () => (await client.listKeys()).body
  const idOf = async (nameOrId: string) => keyIn((await listed()).map(rowOf), nameOrId)
  return {
    keys: async () => [...(await listed()), ...(await client.listKeys({ query: { revoked: true } })).body].map(rowOf),
    createKey: async (_organization, { name, scopes, test, policy, lifeMs }) => {
      const expiresAt = lifeMs === null ? null : new Date(nowMs() + lifeMs).toISOString()
      // The server checks scopes and policy, and its error names the invalid field.
      const body = { name, scopes, test, policy, expiresAt } as NewApiKey
      return (await client.createKey({ body })).body
    },
    rotateKey: async (_organization, nameOrId, overlapMs) => {
      const body = { overlapSeconds: Math.ceil(overlapMs / 1000) }
      return (await client.rotateKey({ path: { id: await idOf(nameOrId) }, body })).body
    },
    revokeKey: async (_organization, nameOrId) => {
      const id = await idOf(nameOrId)
      await client.revokeKey({ path: { id } })
      return id
    },
    setBudget: async (_organization, nameOrId, budget) => {
      const id = await idOf(nameOrId)
      const before = Object.entries((await listed()).find((key) => key.id === id)?.policy ?? {})
      const rest = Object.fromEntries(before.filter(([field]) => field !== 'budget'))
      const policy = budget === null ? rest : { ...rest, budget }
      return rowOf((await client.updateKey({ path: { id }, body: { policy } })).body)
    },
  }
}

function rowOf({ id, name, publicId, scopes, test, policy, budget, ...times }: ApiKey): KeyRow {
  return {
    ...{ id, name, publicId, scopes, test },
    policy: Object.keys(policy),
    budget: budget && spendingOf(budget),
    createdAt: new Date(times.createdAt),
    previousUntil: dateOf(times.previousExpiresAt),
    revokedAt: dateOf(times.revokedAt),
    expiresAt: dateOf(times.expiresAt),
    lastUsedAt: dateOf(times.lastUsedAt),
  }
}

type Spending = NonNullable<ApiKey['budget']>

function spendingOf({ microUsd, period, spentMicroUsd }: Spending): Budget & { spentMicroUsd: number } {
  return { microUsd: Number(microUsd), period, spentMicroUsd: Number(spentMicroUsd) }
}

const dateOf = (time: string | null) => (time === null ? null : new Date(time))
