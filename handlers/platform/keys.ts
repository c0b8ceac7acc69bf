/** The operations on the organization's API keys. */
import { type ActorNames, type ApiKey, type KeyAdministration, keysMax } from '../../domain/access/api-keys.ts'
import type { KeyBudgets, KeySpending } from '../../domain/billing/key-spending.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { type Actor, actorOf, entryOf } from '../../domain/records/audit.ts'
import type { Caller, KeyPolicy, Scope } from '../../domain/records/organization.ts'
import { ResourceFault, requireResource } from '../../domain/records/resource-fault.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type * as Wire from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { PolicyError, readKeyPolicy, wireKeyPolicy } from '../key-policy.ts'
import { wireSpending } from './credits.ts'
import { boundsOf, requireWithinOwn } from './own-limits.ts'
import { millisecondsOf } from './times.ts'

type Handlers = PlatformHandlers<Caller>

export type KeysDeps = {
  keys: KeyAdministration
  keyBudgets: Pick<KeyBudgets, 'read'>
  actorNames: ActorNames
  clock: Clock
}

export function keyOperations(deps: KeysDeps) {
  const { keys } = deps
  return {
    listKeys: async ({ query }, { caller }) => {
      const rows = await keys.listBy(caller.organization.id, query.revoked)
      return { status: 200, body: await wireKeys(deps, caller.organization.id, rows) }
    },
    createKey: async ({ body }, { caller }) => {
      requireScopes(caller, body.scopes)
      const { name, scopes, test } = body
      const policy = policyOf(body.policy ?? {})
      const expiresAtMs = expiryOf(body.expiresAt ?? null, deps.clock.nowMs())
      await requireWithinOwn(keys, caller, { policy, expiresAtMs })
      const organizationId = caller.organization.id
      const made = await keys.createLimited(
        { ...{ organizationId, name, scopes, test, policy, expiresAtMs }, createdBy: actorOf(caller) },
        entryOf(caller),
      )
      if (made === 'limit_reached')
        throw new ResourceFault({ kind: 'limit_reached', resource: 'API key', limit: keysMax })
      return { status: 201, body: { ...(await wireKey(deps, made.key)), secret: made.secret } }
    },
    updateKey: async ({ path, body }, { caller }) => {
      const { name } = body
      const policy = body.policy && policyOf(body.policy)
      if (policy) await requirePolicyWithinOwn(keys, caller, path.id, policy)
      const change = { ...(name !== undefined && { name }), ...(policy && { policy }) }
      const key = await keys.change(caller.organization.id, path.id, change, entryOf(caller))
      return { status: 200, body: await wireKey(deps, key ?? (await refuse(keys, caller, path.id))) }
    },
    rotateKey: async ({ path, body }, { caller }) => {
      await requireScopesOf(keys, caller, path.id)
      const overlapMs = (body?.overlapSeconds ?? 0) * 1000
      const rotated = await keys.rotate(caller.organization.id, path.id, overlapMs, entryOf(caller))
      const { key, secret } = rotated ?? (await refuse(keys, caller, path.id))
      return { status: 200, body: { ...(await wireKey(deps, key)), secret } }
    },
    revokeKey: async ({ path }, { caller }) => {
      if (!(await keys.revoke(caller.organization.id, path.id, entryOf(caller)))) await refuse(keys, caller, path.id)
      return { status: 200, body: { revoked: true } }
    },
  } satisfies Partial<Handlers>
}

/** Throws, because the key is unknown or revoked. */
async function refuse(keys: KeyAdministration, { organization }: Caller, keyId: string): Promise<never> {
  requireResource(await keys.get(organization.id, keyId))
  throw new ResourceFault({ kind: 'key_revoked' })
}

/** Throws if an API key would give another key a scope that it does not have itself. A person may give every scope. */
function requireScopes({ role, scopes }: Caller, wanted: readonly Scope[]): void {
  const missing = role === undefined ? wanted.find((scope) => !scopes.includes(scope)) : undefined
  if (missing === undefined) return
  throw new Refusal('forbidden', {
    message: `This key does not carry the scope ${missing}, so it cannot make a secret of a key with this scope.`,
    hint: `Use a key with the scope ${missing}.`,
  })
}

/** Throws if an API key would rotate a key with more scopes, because it would get that key's new secret. */
async function requireScopesOf(keys: KeyAdministration, caller: Caller, keyId: string): Promise<void> {
  if (caller.role !== undefined || caller.keyId === keyId) return
  const key = requireResource(await keys.get(caller.organization.id, keyId))
  requireScopes(caller, key.scopes)
  await requireWithinOwn(keys, caller, boundsOf(key))
}

/** Throws if the key is unknown, or if the new policy is wider than the sender's own limits. */
async function requirePolicyWithinOwn(keys: KeyAdministration, caller: Caller, keyId: string, policy: KeyPolicy) {
  if (caller.role !== undefined) return
  requireResource(await keys.get(caller.organization.id, keyId))
  // An update does not change a key's end, so the end of the sender's key does not matter.
  await requireWithinOwn(keys, caller, { policy, expiresAtMs: Number.NEGATIVE_INFINITY })
}

function policyOf(policy: Wire.KeyPolicy): KeyPolicy {
  try {
    return readKeyPolicy(policy)
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error
    throw new Refusal('invalid_parameter', { param: '/policy', message: `/policy: ${error.message}`, keyword: 'value' })
  }
}

function expiryOf(expiresAt: string | null, nowMs: number): number | null {
  if (expiresAt === null) return null
  const expiresAtMs = millisecondsOf('/expiresAt', expiresAt)
  if (expiresAtMs > nowMs) return expiresAtMs
  throw new Refusal('invalid_parameter', {
    param: '/expiresAt',
    message: '/expiresAt is not in the future',
    keyword: 'minimum',
  })
}

async function wireKey(deps: KeysDeps, key: ApiKey): Promise<Wire.ApiKey> {
  const [wire] = await wireKeys(deps, key.organizationId, [key])
  if (wire === undefined) throw new Error('a key has no view')
  return wire
}

async function wireKeys(deps: KeysDeps, organizationId: string, rows: readonly ApiKey[]): Promise<Wire.ApiKey[]> {
  const nameOf = await deps.actorNames.read(
    organizationId,
    rows.map(({ createdBy }) => createdBy),
    'email',
  )
  const hasBudget = rows.some(({ policy, revokedAt }) => policy.budget && revokedAt === null)
  const spending = hasBudget ? await deps.keyBudgets.read(organizationId) : []
  return rows.map((row) => viewOf(row, nameOf, spending.find(({ keyId }) => keyId === row.id) ?? null))
}

function viewOf(row: ApiKey, nameOf: (actor: Actor) => string | null, spending: KeySpending | null): Wire.ApiKey {
  const { id, name, publicId, scopes, test, createdBy } = row
  return {
    ...{ id, name, publicId, scopes, test },
    policy: wireKeyPolicy(row.policy),
    createdAt: row.createdAt.toISOString(),
    createdBy: createdBy && creatorOf(createdBy, nameOf),
    rotatedAt: isoOf(row.rotatedAt),
    previousExpiresAt: isoOf(row.previousUntil),
    expiresAt: isoOf(row.expiresAt),
    revokedAt: isoOf(row.revokedAt),
    lastUsedAt: isoOf(row.lastUsedAt),
    budget: spending && wireSpending(spending),
  }
}

/** `system` never occurs, because the server itself makes no keys. */
function creatorOf(actor: Actor, nameOf: (actor: Actor) => string | null): Wire.Creator {
  const { type, id } = actor
  return { type: type === 'system' ? 'operator' : type, id, name: nameOf(actor) }
}

const isoOf = (date: Date | null) => date?.toISOString() ?? null
