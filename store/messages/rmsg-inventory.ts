/** The operator's changes to the inventory of rich-message numbers. */
import { v7 } from 'uuid'
import type { Clock } from '../../domain/ports/system.ts'
import type { NamedNumber, RmsgInventory } from '../../domain/rmsg/inventory.ts'
import type { RmsgNumber } from '../../domain/rmsg/numbers.ts'
import { lockPool } from '../numbers/rmsg-agents.ts'
import { writeSmsStatus } from '../numbers/rmsg-sms-status.ts'
import type { Tx } from '../postgres/connect.ts'
import { isUuid } from '../postgres/row-values.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { readRmsgNumbers } from './rmsg-numbers.ts'

export function createRmsgInventory(worlds: Pick<Tenancy, 'asOperator'>, clock: Pick<Clock, 'nowMs'>): RmsgInventory {
  const now = () => new Date(clock.nowMs())
  /** Runs a change on a locked number. `run` returns a refusal, or null after the change. */
  const change = <Refusal extends string>(
    named: NamedNumber,
    run: (tx: Tx, number: RmsgNumber) => Promise<Refusal | null>,
  ): Promise<RmsgNumber | 'unknown' | Refusal> =>
    worlds.asOperator(async (tx) => {
      const number = await locked(tx, named)
      if (number === null) return 'unknown'
      const outcome = await run(tx, number)
      if (outcome !== null) return outcome
      return (await find(tx, { test: named.test, name: number.id })) ?? number
    })
  const setStatus = (named: NamedNumber, status: 'active' | 'paused') =>
    change<'unavailable'>(named, async (tx, number) => {
      if (number.status === 'unavailable') return 'unavailable'
      await tx`update rmsg_numbers set status = ${status}, updated_at = ${now()} ${ofRow(tx, number)}`
      return null
    })
  return {
    list: (test, limit) =>
      worlds.asOperator((tx) => readRmsgNumbers(tx, tx`where test = ${test} order by created_at, id limit ${limit}`)),
    add: ({ test, e164, providerIdentity }) =>
      worlds.asOperator(async (tx) => {
        const id = v7()
        const rows = await tx`
          insert into rmsg_numbers (test, id, e164, provider_identity, status, sms_status, created_at, updated_at)
          values (${test}, ${id}, ${e164}, ${providerIdentity}, 'active', 'not_configured', ${now()}, ${now()})
          on conflict do nothing returning id`
        return rows.length === 0 ? 'exists' : ((await find(tx, { test, name: id })) ?? 'exists')
      }),
    assign: (named, organizationId) =>
      change<'no_organization' | 'assigned'>(named, async (tx, number) => {
        if (number.organizationId !== null) return number.organizationId === organizationId ? null : 'assigned'
        await lockPool(tx, { organizationId, test: number.test })
        // The legacy inventory setting is for the whole organization, so a test number must not change it for live
        // keys.
        const updated = await tx`
          update organizations set rmsg_legacy_inventory = rmsg_legacy_inventory and ${number.test},
            rmsg_legacy_ended = rmsg_legacy_ended or not ${number.test}::boolean
          where id = ${organizationId} returning id`
        if (updated.length === 0) return 'no_organization'
        await tx`
          update rmsg_numbers set organization_id = ${organizationId}, updated_at = ${now()} ${ofRow(tx, number)}`
        return null
      }),
    unassign: (named) =>
      change<never>(named, async (tx, number) => {
        await tx`
          update rmsg_numbers set organization_id = null, agent_id = null, updated_at = ${now()} ${ofRow(tx, number)}`
        return null
      }),
    pause: (named) => setStatus(named, 'paused'),
    resume: (named) => setStatus(named, 'active'),
    observe: (named, { isThere, smsStatus }) =>
      change<never>(named, async (tx, number) => {
        if (isThere !== null) await mark(tx, number, isThere, now())
        if (smsStatus !== null) await writeSmsStatus(tx, number, smsStatus, now())
        return null
      }),
    remove: (named) =>
      change<'assigned'>(named, async (tx, number) => {
        if (number.organizationId !== null) return 'assigned'
        await tx`delete from rmsg_numbers ${ofRow(tx, number)}`
        return null
      }),
  }
}

async function mark(tx: Tx, number: RmsgNumber, isThere: boolean, now: Date): Promise<void> {
  if (isThere === (number.status !== 'unavailable')) return
  // The operator's pause is stored in `was_paused`. If the provider loses the number and lists it again later, the
  // number is paused again.
  const change = isThere
    ? tx`status = case when was_paused then 'paused' else 'active' end, was_paused = false`
    : tx`status = 'unavailable', was_paused = (status = 'paused')`
  await tx`update rmsg_numbers set ${change}, updated_at = ${now} ${ofRow(tx, number)}`
}

const ofRow = (tx: Tx, { test, id }: Pick<RmsgNumber, 'test' | 'id'>): ReturnType<Tx> =>
  tx`where test = ${test} and id = ${id}`

function whereNamed(tx: Tx, { test, name }: NamedNumber): ReturnType<Tx> {
  return isUuid(name) ? ofRow(tx, { test, id: name }) : tx`where test = ${test} and e164 = ${name}`
}

async function find(tx: Tx, named: NamedNumber): Promise<RmsgNumber | null> {
  return (await readRmsgNumbers(tx, whereNamed(tx, named)))[0] ?? null
}

/**
 * Locks the pool before the number, in the same order as for agents. Then reads the number again, because another
 * command may have moved it.
 */
async function locked(tx: Tx, named: NamedNumber): Promise<RmsgNumber | null> {
  const before = await find(tx, named)
  if (before === null) return null
  const { organizationId, test, id } = before
  if (organizationId !== null) await lockPool(tx, { organizationId, test })
  await tx`select from rmsg_numbers ${ofRow(tx, before)} for update`
  return find(tx, { test, name: id })
}
