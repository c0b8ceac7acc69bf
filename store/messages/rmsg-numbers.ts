/**
 * Reads the inventory of rich-message numbers. A statement reads one organization's live or test numbers, or runs as
 * the operator for the whole inventory.
 */
import type { RmsgAccess, RmsgNumber, RmsgNumberStore } from '../../domain/rmsg/numbers.ts'
import type { Tx } from '../postgres/connect.ts'
import { isUuid } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'

export function createRmsgNumberStore(worlds: Worlds & Pick<Tenancy, 'asOperator'>): RmsgNumberStore {
  return {
    access: (tenant) =>
      worlds.asTenant(tenant, async (tx) => {
        const { organizationId, test } = tenant
        const [row] = await tx<RmsgAccess[]>`
          select admin_organization as "isAdmin", rmsg_enabled as "isEnabled", rmsg_legacy_inventory as "isLegacy",
            rmsg_backend as backend, exists (
              select from rmsg_numbers n where n.organization_id = o.id and n.test = ${test}) as "hasPool"
          from organizations o where id = ${organizationId}`
        return row ?? null
      }),
    pool: (tenant, limit) =>
      worlds.asTenant(tenant, (tx) =>
        readRmsgNumbers(
          tx,
          tx`where organization_id = ${tenant.organizationId} and test = ${tenant.test}
            order by created_at, id limit ${limit}`,
        ),
      ),
    inventory: (test, limit) =>
      worlds.asOperator((tx) => readRmsgNumbers(tx, tx`where test = ${test} order by created_at, id limit ${limit}`)),
    find: async (test, id) => {
      if (!isUuid(id)) return null
      return worlds.asOperator(
        async (tx) => (await readRmsgNumbers(tx, tx`where test = ${test} and id = ${id}`))[0] ?? null,
      )
    },
  }
}

type Row = Omit<RmsgNumber, 'smsReadyAtMs' | 'createdAtMs'> & { smsReadyAt: Date | null; createdAt: Date }

export async function readRmsgNumbers(tx: Tx, where: ReturnType<Tx>): Promise<RmsgNumber[]> {
  const rows = await tx<Row[]>`
    select id, test, e164, provider_identity as "providerIdentity", organization_id as "organizationId",
      agent_id as "agentId", status, sms_status as "smsStatus", sms_ready_at as "smsReadyAt", created_at as "createdAt"
    from rmsg_numbers ${where}`
  return rows.map(({ smsReadyAt, createdAt, ...row }) => ({
    ...row,
    smsReadyAtMs: smsReadyAt?.getTime() ?? null,
    createdAtMs: createdAt.getTime(),
  }))
}
