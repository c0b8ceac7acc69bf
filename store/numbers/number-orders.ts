/**
 * Stores orders for phone numbers, and their payment. A number and its debit are written in one transaction. So are a
 * failed order and its refund.
 */
import type { InsertOutcome, NumberOrderStore, OrderEnd } from '../../domain/numbers/orders.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { PhoneNumber } from '../../domain/records/phone-number.ts'
import { noteMovement } from '../billing/credit-movements.ts'
import type { Tx } from '../postgres/connect.ts'
import { dateOrNull, storable } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { isUniqueViolation } from '../postgres/unique-violation.ts'
import { hasAgent, isFull, lockOrganization, ofNumber, ofTenant, readNumbers } from './number-rows.ts'

export function createNumberOrders(worlds: Worlds & Tenancy, clock: Clock): NumberOrderStore {
  return {
    check: (number, numbersMax) => worlds.asTenant(number, (tx) => check(tx, number, numbersMax)),
    async insert(number, lookAtMs, numbersMax) {
      try {
        return await worlds.asTenant(number, (tx) => insert(tx, number, lookAtMs, numbersMax))
      } catch (error) {
        if (error instanceof CreditTooLow) return 'credit_too_low'
        if (isUniqueViolation(error, 'phone_numbers_own')) return 'exists'
        if (isUniqueViolation(error, 'phone_numbers_managed')) return conflictFor(worlds, number, numbersMax)
        throw error
      }
    },
    ordered: (number, orderId, lookAtMs) =>
      worlds.asTenant(number, async (tx) => {
        await tx`
          update phone_numbers set order_id = ${orderId}, look_at = ${new Date(lookAtMs)}
          ${ofNumber(tx, number, number.id)} and order_status = 'pending'`
      }),
    end: (number, end) =>
      worlds.asTenant(number, async (tx) => {
        const [stored] = await readNumbers(tx, tx`${ofNumber(tx, number, number.id)} for update`)
        if (stored?.order.status === 'pending') await endOrder(tx, stored, end, new Date(clock.nowMs()))
        return (await readNumbers(tx, ofNumber(tx, number, number.id)))[0] ?? null
      }),
    take: (limit, untilMs) =>
      worlds.asOperator(async (tx) => {
        const due = await readNumbers(
          tx,
          tx`where order_status = 'pending' and look_at <= ${new Date(clock.nowMs())}
            order by look_at limit ${limit} for update skip locked`,
        )
        for (const number of due)
          await tx`update phone_numbers set look_at = ${new Date(untilMs)} ${ofNumber(tx, number, number.id)}`
        return due
      }),
  }
}

class CreditTooLow extends Error {}

/**
 * Explains why a number could not be inserted: another purchase has taken it at the same moment. Returns `exists` if
 * that purchase was by the same organization.
 */
async function conflictFor(worlds: Worlds, number: PhoneNumber, numbersMax: number): Promise<'exists' | 'unavailable'> {
  const checked = await worlds.asTenant(number, (tx) => check(tx, number, numbersMax))
  return checked === 'exists' ? 'exists' : 'unavailable'
}

async function check(
  tx: Tx,
  number: PhoneNumber,
  numbersMax: number,
): Promise<'agent_unknown' | 'exists' | 'limit_reached' | 'free'> {
  if (!(await hasAgent(tx, number, number.agentId))) return 'agent_unknown'
  const own = await tx`
    select from phone_numbers ${ofTenant(tx, number)} and e164 = ${number.e164} and source = 'managed'`
  if (own.length > 0) return 'exists'
  return (await isFull(tx, number, numbersMax)) ? 'limit_reached' : 'free'
}

async function insert(tx: Tx, number: PhoneNumber, lookAtMs: number, numbersMax: number): Promise<InsertOutcome> {
  await lockOrganization(tx, number)
  const checked = await check(tx, number, numbersMax)
  if (checked !== 'free') return checked
  const {
    organizationId,
    test,
    id,
    e164,
    source,
    direction,
    agentId,
    label,
    takesSms,
    dispatchMetadataTemplate: template,
  } = number
  const { upfrontMicroUsd = null, monthlyMicroUsd = null } = number.price ?? {}
  await tx`
    insert into phone_numbers (organization_id, test, id, e164, source, direction, agent_id, label,
      dispatch_metadata_template, order_status, look_at, upfront_micro_usd, monthly_micro_usd, next_charge_at,
      last_charged_at, takes_sms, created_at, updated_at)
    values (${organizationId}, ${test}, ${id}, ${e164}, ${source}, ${direction}, ${agentId}, ${label && storable(label)},
      ${template === null ? null : JSON.stringify(template)}::text::json, 'pending', ${new Date(lookAtMs)},
      ${upfrontMicroUsd}, ${monthlyMicroUsd}, ${dateOrNull(number.nextChargeAtMs)}, ${dateOrNull(number.lastChargedAtMs)}, ${takesSms},
      ${new Date(number.createdAtMs)}, ${new Date(number.updatedAtMs)})`
  if (number.price !== null) await debit(tx, number)
  return 'inserted'
}

/** Debits the number's first charge. Throws CreditTooLow if the credit does not cover it. */
async function debit(tx: Tx, number: PhoneNumber): Promise<void> {
  const { organizationId, id: phoneNumberId } = number
  const microUsd = paidAtOnce(number)
  const { count } = await tx`
    update organizations set credit_micro_usd = credit_micro_usd - ${microUsd}
    where id = ${organizationId} and credit_micro_usd >= ${microUsd}`
  if (count === 0) throw new CreditTooLow()
  const movement = { organizationId, kind: 'phone_number', microUsd: -microUsd, phoneNumberId } as const
  await noteMovement(tx, movement, new Date(number.createdAtMs))
}

async function endOrder(tx: Tx, number: PhoneNumber, end: OrderEnd, now: Date): Promise<void> {
  const row = ofNumber(tx, number, number.id)
  if (end.status === 'done') {
    const { orderId, resourceId } = end
    await tx`
      update phone_numbers set order_status = 'done', order_id = ${orderId}, resource_id = ${resourceId}, updated_at = ${now} ${row}`
    return
  }
  if (end.status === 'withdrawn') await tx`delete from phone_numbers ${row}`
  else
    await tx`
      update phone_numbers set order_status = 'failed', next_charge_at = null, last_charged_at = null, updated_at = ${now} ${row}`
  const { organizationId, id: phoneNumberId } = number
  const microUsd = paidAtOnce(number)
  await tx`
    update organizations set credit_micro_usd = credit_micro_usd + ${microUsd} where id = ${organizationId}`
  await noteMovement(tx, { organizationId, kind: 'phone_number', microUsd, phoneNumberId }, now)
}

const paidAtOnce = ({ price }: PhoneNumber) => (price === null ? 0 : price.upfrontMicroUsd + price.monthlyMicroUsd)
