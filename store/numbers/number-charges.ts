/**
 * Debits monthly charges for phone numbers. Several processes look for due charges, but each charge is debited by one
 * process only.
 */
import type { DueNumber, NumberChargeStore } from '../../domain/numbers/charges.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { PhoneNumber } from '../../domain/records/phone-number.ts'
import { noteMovement } from '../billing/credit-movements.ts'
import type { Tx } from '../postgres/connect.ts'
import { dateOrNull } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { ofNumber, readNumbers } from './number-rows.ts'

export function createNumberCharges(worlds: Worlds & Tenancy, clock: Clock): NumberChargeStore {
  const now = () => new Date(clock.nowMs())
  return {
    due: (limit, suspendMs) => worlds.asOperator((tx) => readDue(tx, now(), new Date(suspendMs), limit)),
    charge: (due, change) =>
      worlds.asTenant(due, async (tx) => {
        const [number] = await readNumbers(
          tx,
          tx`${ofNumber(tx, due, due.id)} and order_status = 'done' and next_charge_at <= ${now()} for update skip locked`,
        )
        if (number === undefined) return
        await update(tx, change(number, await isPaid(tx, number, now())))
      }),
  }
}

function readDue(tx: Tx, now: Date, suspend: Date, limit: number): Promise<DueNumber[]> {
  return tx<DueNumber[]>`
    select n.organization_id as "organizationId", n.test, n.id
    from phone_numbers n join organizations o on o.id = n.organization_id
    where n.next_charge_at <= ${now} and n.order_status = 'done'
      and (n.overdue_since is null or o.credit_micro_usd >= n.monthly_micro_usd
        or (n.suspended_at is null and n.overdue_since <= ${suspend}))
    order by n.next_charge_at, n.id limit ${limit}`
}

async function isPaid(tx: Tx, { organizationId, id: phoneNumberId, price }: PhoneNumber, now: Date): Promise<boolean> {
  const microUsd = price?.monthlyMicroUsd ?? 0
  const { count } = await tx`
    update organizations set credit_micro_usd = credit_micro_usd - ${microUsd}
    where id = ${organizationId} and credit_micro_usd >= ${microUsd}`
  if (count === 0) return false
  await noteMovement(tx, { organizationId, kind: 'phone_number', microUsd: -microUsd, phoneNumberId }, now)
  return true
}

async function update(tx: Tx, number: PhoneNumber): Promise<void> {
  await tx`
    update phone_numbers set next_charge_at = ${dateOrNull(number.nextChargeAtMs)},
      last_charged_at = ${dateOrNull(number.lastChargedAtMs)}, overdue_since = ${dateOrNull(number.overdueSinceMs)},
      suspended_at = ${dateOrNull(number.suspendedAtMs)}, updated_at = ${new Date(number.updatedAtMs)}
    ${ofNumber(tx, number, number.id)}`
}
