/**
 * Calls. Every statement reads or writes one organization's live or test rows. The secrets for a call's tools are
 * sealed, and are removed when the call ends.
 */
import type { CallStore, EndedCall, RoomCall } from '../../domain/calls/store.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Pipeline } from '../../domain/records/pipeline.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral, isUuid, readableJson } from '../postgres/row-values.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { appendEntries } from './appended-entries.ts'
import { createFactsWork } from './call-facts.ts'
import { listCalls, listCallsOfAgent, listOwnedCalls } from './call-lists.ts'
import { listOverviews, overviewsOf } from './call-overviews.ts'
import { ofCall, readCall } from './call-rows.ts'
import { openedOf } from './call-secrets.ts'
import { createNewCalls } from './new-calls.ts'
import { createUnownedCalls, type UnownedCallDeps, type UnownedCalls } from './unowned-calls.ts'

export type CallStoreDeps = UnownedCallDeps & { sealer: () => Sealer }

export type StoredCalls = CallStore & Pick<UnownedCalls, 'expire'>

export function createCallStore(deps: CallStoreDeps): StoredCalls {
  const { worlds, sealer, clock } = deps
  return {
    ...createNewCalls(deps),
    find: async (tenant, id) =>
      isUuid(id) ? worlds.asTenant(tenant, async (tx) => (await readCall(tx, tenant, id))?.call ?? null) : null,
    findWithSecrets: async (tenant, id) => {
      if (!isUuid(id)) return null
      const record = await worlds.asTenant(tenant, (tx) => readCall(tx, tenant, id))
      return record && { call: record.call, secrets: openedOf(sealer, record.call, record.secrets) }
    },
    list: (tenant, filter, limit, after) =>
      worlds.asTenant(tenant, (tx) => listCalls(tx, tenant, filter, limit, after)),
    overview: (tenant, query) => worlds.asTenant(tenant, (tx) => listOverviews(tx, tenant, query)),
    overviewsOf: (tenant, filter, ids) => worlds.asTenant(tenant, (tx) => overviewsOf(tx, tenant, filter, ids)),
    listOfAgent: (tenant, agentId, limit, range) =>
      worlds.asTenant(tenant, (tx) => listCallsOfAgent(tx, tenant, agentId, limit, range)),
    claim: async (tenant, id, ownerId, pipeline) =>
      isUuid(id) && worlds.asTenant(tenant, (tx) => claim(tx, tenant, id, { ownerId, pipeline }, clock.nowMs())),
    release: async (tenant, id, ownerId) => {
      if (isUuid(id)) await worlds.asTenant(tenant, (tx) => release(tx, tenant, id, ownerId))
    },
    owned: (organizationId) => worlds.asOperator((tx) => listOwnedCalls(tx, organizationId)),
    inRooms: () => worlds.asOperator(listInRooms),
    countLive: (organizationId) => countOpen(worlds, organizationId, true),
    countQueued: (organizationId) => countOpen(worlds, organizationId, false),
    append: async (tenant, id, entries) => {
      if (!isUuid(id)) return entries
      return worlds.asTenant(tenant, async (tx) => {
        const record = await readCall(tx, tenant, id, true)
        return record === null ? entries : appendEntries(tx, deps, record.call, entries)
      })
    },
    endedAmong: (ids) =>
      worlds.asOperator(
        (tx) => tx<EndedCall[]>`
          select organization_id as "organizationId", test, id, end_reason as "endReason" from calls
          where id = any(${arrayLiteral(ids)}::uuid[]) and ended_at is not null`,
      ),
    ...createUnownedCalls(deps),
    completeFacts: createFactsWork(deps),
  }
}

async function claim(
  tx: Tx,
  tenant: Tenant,
  id: string,
  { ownerId, pipeline }: { ownerId: string; pipeline: Pipeline | null },
  nowMs: number,
): Promise<boolean> {
  const changed =
    pipeline === null
      ? tx``
      : tx`, language = ${pipeline.intent.language}, pipeline = ${jsonText(pipeline)}::text::json`
  const { count } = await tx`
    update calls set owner_id = ${ownerId}${changed}
    ${ofCall(tx, tenant, id)} and (owner_id is null or owner_id = ${ownerId})
      and status in ('queued', 'dialing', 'ringing')
      and expires_at > ${new Date(nowMs)}`
  return count > 0
}

/** Counts an organization's open calls, live and test together. */
function countOpen(worlds: CallStoreDeps['worlds'], organizationId: string, isOwned: boolean): Promise<number> {
  return worlds.asOperator(async (tx) => {
    const [row] = await tx<{ count: number }[]>`
      select count(*)::int as count from calls
      where organization_id = ${organizationId} and ended_at is null and (owner_id is not null) = ${isOwned}`
    return row?.count ?? 0
  })
}

/**
 * The maximum number of calls in LiveKit rooms to list, newest first. A process still has its older calls in memory.
 */
const inRoomsMax = 5000

async function listInRooms(tx: Tx): Promise<RoomCall[]> {
  const rows = await tx<(Omit<RoomCall, 'expiresAtMs'> & { expiresAt: Date })[]>`
    select id, identity, organization_id as "organizationId", key_id as "keyId", expires_at as "expiresAt",
      owner_id as "ownerId"
    from calls where ended_at is null and ${readableJson(tx, 'pipeline')}->>'transport' = 'livekit'
    order by created_at desc limit ${inRoomsMax}`
  return rows.map(({ expiresAt, identity, ...row }) => {
    return { ...row, identity: JSON.parse(identity) as string, expiresAtMs: expiresAt.getTime() }
  })
}

async function release(tx: Tx, tenant: Tenant, id: string, ownerId: string): Promise<void> {
  await tx`update calls set owner_id = null ${ofCall(tx, tenant, id)} and owner_id = ${ownerId} and status = 'queued'`
}

const jsonText = (value: unknown) => JSON.stringify(value)
