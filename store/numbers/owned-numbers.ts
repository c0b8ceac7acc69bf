/** Administers organizations' phone numbers. Every statement reads or writes one organization's live or test rows. */
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { PhoneNumber, PhoneNumberStore } from '../../domain/records/phone-number.ts'
import type { Tx } from '../postgres/connect.ts'
import { dateOrNull, storable } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { isUniqueViolation } from '../postgres/unique-violation.ts'
import { markAlsoImported } from './number-imports.ts'
import { hasAgent, isFull, isNumberId, lockOrganization, ofNumber, ofTenant, readNumbers } from './number-rows.ts'
import { writeSmsStatus } from './rmsg-sms-status.ts'
import { hasConnection } from './sip-connections.ts'

export function createNumberStore(worlds: Worlds & Pick<Tenancy, 'asOperator'>, clock: Clock): PhoneNumberStore {
  const [releases, releasesOfEach] = [new OneAtATime(), new OneAtATime()]
  async function marked<Outcome>(outcome: PhoneNumber | Outcome): Promise<PhoneNumber | Outcome> {
    if (!isNumber(outcome)) return outcome
    const [number = outcome] = await markAlsoImported(worlds, [outcome])
    return number
  }
  return {
    // The lock needs a database connection until the carrier answers, so this process releases only one number at a
    // time. The organizations take turns: an organization waits for at most one release by each other organization.
    inTurn: ({ organizationId }, id, giveBack) =>
      releasesOfEach.run(organizationId, () => releases.run('all', () => locked(worlds, id, giveBack))),
    list: async (tenant, limit) => {
      const numbers = await worlds.asTenant(tenant, (tx) =>
        readNumbers(tx, tx`${ofTenant(tx, tenant)} order by created_at, id limit ${limit}`),
      )
      return markAlsoImported(worlds, numbers)
    },
    find: async (tenant, id) => {
      if (!isNumberId(id)) return null
      return marked(
        await worlds.asTenant(tenant, async (tx) => (await readNumbers(tx, ofNumber(tx, tenant, id)))[0] ?? null),
      )
    },
    change: async (tenant, id, change) => {
      if (!isNumberId(id)) return null
      return marked(await ifFree(() => worlds.asTenant(tenant, (tx) => changeOne(tx, tenant, id, change))))
    },
    import: async (number, numbersMax) =>
      marked(await ifFree(() => worlds.asTenant(number, (tx) => insertImported(tx, number, numbersMax)))),
    remove: (tenant, id) =>
      worlds.asOperator(async (tx) => {
        const removed = await tx<{ test: boolean; e164: string }[]>`
          delete from phone_numbers ${ofNumber(tx, tenant, id)}
          returning test, case when sms_campaign_id is not null then e164 end as e164`
        // A removed number leaves its campaign. This runs with the operator's access, because the tenant cannot see a
        // rich-message number outside its pool. Such a number may be this phone number.
        for (const number of removed) await writeSmsStatus(tx, number, 'not_configured', new Date(clock.nowMs()))
        return removed.length > 0
      }),
  }
}

const isNumber = (outcome: unknown): outcome is PhoneNumber => typeof outcome === 'object' && outcome !== null

/** Runs steps with the same name one after the other. */
class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>()

  run<Outcome>(name: string, step: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = (this.#last.get(name) ?? Promise.resolve()).then(step)
    const ended = outcome
      .catch(() => {})
      .then(() => {
        if (this.#last.get(name) === ended) this.#last.delete(name)
      })
    this.#last.set(name, ended)
    return outcome
  }
}

/** The longest wait for the lock. A release's requests to the carrier take less, because each has a time limit. */
const lockWaitMs = 120_000

/**
 * Runs `run` under a lock on the number. The lock ends with the transaction, its connection or its process. If the
 * connection is lost, the current step still blocks other steps in this process, but another process may start a step.
 */
async function locked<Outcome>(
  { asOperator }: Pick<Tenancy, 'asOperator'>,
  id: string,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  let step: Promise<Outcome> | undefined
  const locking = asOperator(async (tx) => {
    await tx`
      select set_config('statement_timeout', ${String(lockWaitMs)}, true),
        set_config('idle_in_transaction_session_timeout', '0', true)`
    await tx`select pg_advisory_xact_lock(hashtextextended(${`the release of ${id}`}, 0))`
    step = run()
    return step
  })
  try {
    return await locking
  } finally {
    await step?.catch(() => {})
  }
}

/** Runs a write. Returns `exists` if the SIP connection has this number already. */
async function ifFree<Outcome>(write: () => Promise<Outcome>): Promise<Outcome | 'exists'> {
  try {
    return await write()
  } catch (error) {
    if (isUniqueViolation(error, 'phone_numbers_trunk')) return 'exists'
    throw error
  }
}

async function changeOne(
  tx: Tx,
  tenant: Tenant,
  id: string,
  change: (number: PhoneNumber) => PhoneNumber,
): Promise<PhoneNumber | 'agent_unknown' | 'connection_unknown' | null> {
  const [number] = await readNumbers(tx, tx`${ofNumber(tx, tenant, id)} for update`)
  if (number === undefined) return null
  const changed = change(number)
  const { agentId, connectionId } = changed
  if (agentId !== number.agentId && !(await hasAgent(tx, tenant, agentId))) return 'agent_unknown'
  if (connectionId !== number.connectionId && !(await hasConnection(tx, tenant, connectionId)))
    return 'connection_unknown'
  await update(tx, changed)
  return (await readNumbers(tx, ofNumber(tx, tenant, id)))[0] ?? null
}

async function insertImported(
  tx: Tx,
  number: PhoneNumber,
  numbersMax: number,
): Promise<PhoneNumber | 'agent_unknown' | 'connection_unknown' | 'exists' | 'limit_reached'> {
  const { organizationId, test, id, e164, source, connectionId, direction, agentId, label } = number
  const { sipProviderName, dispatchMetadataTemplate: template, awaitsApproval, createdAtMs, updatedAtMs } = number
  await lockOrganization(tx, number)
  if (!(await hasAgent(tx, number, agentId))) return 'agent_unknown'
  if (!(await hasConnection(tx, number, connectionId))) return 'connection_unknown'
  const same = await tx`
    select from phone_numbers ${ofTenant(tx, number)} and sip_connection_id = ${connectionId} and e164 = ${e164}`
  if (same.length > 0) return 'exists'
  if (await isFull(tx, number, numbersMax)) return 'limit_reached'
  await tx`
    insert into phone_numbers (organization_id, test, id, e164, source, sip_connection_id, sip_provider_name, direction,
      agent_id, label, dispatch_metadata_template, awaits_approval, created_at, updated_at)
    values (${organizationId}, ${test}, ${id}, ${e164}, ${source}, ${connectionId},
      ${sipProviderName && storable(sipProviderName)}, ${direction}, ${agentId}, ${label && storable(label)},
      ${template === null ? null : JSON.stringify(template)}::text::json, ${awaitsApproval},
      ${new Date(createdAtMs)}, ${new Date(updatedAtMs)})`
  const [stored] = await readNumbers(tx, ofNumber(tx, number, id))
  if (stored === undefined) throw new Error('an inserted number was not returned')
  return stored
}

async function update(tx: Tx, number: PhoneNumber): Promise<void> {
  const { id, direction, agentId, label, connectionId, sipProviderName, dispatchMetadataTemplate: template } = number
  await tx`
    update phone_numbers set sip_connection_id = ${connectionId}, sip_provider_name = ${sipProviderName && storable(sipProviderName)},
      first_called_at = ${dateOrNull(number.firstCalledAtMs)}, direction = ${direction}, agent_id = ${agentId}, label = ${label === null ? null : storable(label)},
      dispatch_metadata_template = ${template === null ? null : JSON.stringify(template)}::text::json,
      updated_at = ${new Date(number.updatedAtMs)}
    ${ofTenant(tx, number)} and id = ${id}`
}
