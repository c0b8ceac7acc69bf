/**
 * A credit change and its movement are written in one transaction, the credit first. A reservation lowers the credit
 * without a movement: only settling makes a movement, with the true cost. So the sum of all movements equals the credit
 * plus the open reservations.
 */
import type {
  CreditAccount,
  CreditAccounts,
  CreditBalance,
  CreditMovement,
  MovementKind,
  MovementPosition,
} from '../../domain/billing/credit-account.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'

export type NewMovement = {
  organizationId: string
  kind: Exclude<MovementKind, 'opening' | 'requests' | 'calls'>
  microUsd: number
  phoneNumberId?: string
}

/**
 * Records a credit change. Call it in the transaction with the change, when the credit is locked. Does nothing if the
 * amount is 0. A movement's time is at least a millisecond after the previous movement's time, so a list by time keeps
 * their order.
 */
export async function noteMovement(tx: Tx, movement: NewMovement, now: Date): Promise<void> {
  const { organizationId, kind, microUsd, phoneNumberId = null } = movement
  if (microUsd === 0) return
  await tx`
    insert into credit_movements (organization_id, id, kind, micro_usd, phone_number_id, created_at, updated_at)
    select ${organizationId}, ${`credit_${uniqueId()}`}, ${kind}, ${microUsd}::bigint, ${phoneNumberId}, later.at, later.at
    from (select greatest(${now}, max(created_at) + interval '1 millisecond') as at
      from credit_movements where organization_id = ${organizationId}) as later`
}

/**
 * Returns SQL to add amounts to the day's sums. The table expression `spent` has rows `organization_id, micro_usd`: one
 * row for each organization, in the order of organizations.
 */
export function addToDay(sql: Sql | Tx, kind: 'requests' | 'calls', now: Date) {
  const day = now.toISOString().slice(0, 10)
  return sql`
    insert into credit_movements as m (organization_id, id, kind, micro_usd, day, created_at, updated_at)
    select organization_id, ${`credit_${kind}_${day}`}::text, ${kind}::text, micro_usd, ${day}::text::date, ${now}, ${now}
    from spent
    on conflict (organization_id, id)
      do update set micro_usd = m.micro_usd + excluded.micro_usd, updated_at = excluded.updated_at`
}

type Row = Omit<CreditMovement, 'createdAtMs' | 'updatedAtMs'> & { createdAt: Date; updatedAt: Date }

export function createCreditAccounts(tenancy: Tenancy): CreditAccounts {
  return {
    balance: (organizationId) => tenancy.asOrganization(organizationId, (tx) => readBalance(tx, organizationId)),
    read: (organizationId, limit, after) =>
      tenancy.asOrganization(organizationId, (tx) => readAccount(tx, organizationId, limit, after)),
  }
}

/**
 * Reads the balance. `changedAt` is the newest `updated_at` and not the newest row's time: a day's row is made at its
 * first change and goes on changing until the day is over.
 */
async function readBalance(tx: Tx, organizationId: string): Promise<CreditBalance | null> {
  const [row] = await tx<{ creditMicroUsd: number; changedAt: Date }[]>`
    select credit_micro_usd as "creditMicroUsd", coalesce(
      (select max(updated_at) from credit_movements where organization_id = ${organizationId}), created_at) as "changedAt"
    from organizations where id = ${organizationId}`
  return row === undefined ? null : { creditMicroUsd: row.creditMicroUsd, changedAtMs: row.changedAt.getTime() }
}

async function readAccount(
  tx: Tx,
  organizationId: string,
  limit: number,
  after: MovementPosition | null,
): Promise<CreditAccount | null> {
  const [balance] = await tx<Pick<CreditAccount, 'creditMicroUsd' | 'reservedMicroUsd'>[]>`
    select credit_micro_usd as "creditMicroUsd",
      (select coalesce(sum(micro_usd), 0)::bigint from reservations where organization_id = ${organizationId})
        as "reservedMicroUsd"
    from organizations where id = ${organizationId}`
  if (balance === undefined) return null
  const rows = await tx<Row[]>`
    select id, kind, micro_usd as "microUsd", phone_number_id as "phoneNumberId", day::text as day,
      created_at as "createdAt", updated_at as "updatedAt"
    from credit_movements
    where organization_id = ${organizationId}
      ${after === null ? tx`` : tx`and (created_at, id) < (${new Date(after.createdAtMs)}, ${after.id})`}
    order by created_at desc, id desc limit ${limit + 1}`
  const movements = rows.slice(0, limit).map(movementOf)
  const last = movements.at(-1)
  const next = rows.length > limit && last ? { createdAtMs: last.createdAtMs, id: last.id } : null
  return { ...balance, movements, next }
}

function movementOf({ createdAt, updatedAt, ...movement }: Row): CreditMovement {
  return { ...movement, createdAtMs: createdAt.getTime(), updatedAtMs: updatedAt.getTime() }
}
