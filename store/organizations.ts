import type { Organization } from '../domain/access/organization.ts'
import type { Clock } from '../domain/ports/system.ts'
import { uniqueId } from '../runtime/clock.ts'
import type { Tx } from './connect.ts'
import type { Tenancy } from './tenant.ts'

export type OrganizationSettings = {
  name: string
  /** Null: no limit. */
  maxConcurrency: number | null
  smsEnabled: boolean
  rmsgEnabled: boolean
  recordingEnabled: boolean
}
export type OrganizationRecord = Organization & OrganizationSettings & { creditMicroUsd: number; createdAt: Date }

/** For the operator. Null: no such organization. */
export type Organizations = {
  create(settings: OrganizationSettings & { creditMicroUsd: number }): Promise<OrganizationRecord>
  list(): Promise<OrganizationRecord[]>
  isEmpty(): Promise<boolean>
  /** `microUsd` may be negative. */
  addCredit(id: string, microUsd: number): Promise<OrganizationRecord | null>
}

export function createOrganizations(tenancy: Tenancy, clock: Clock): Organizations {
  const now = () => new Date(clock.nowMs())
  return {
    create: (settings) => tenancy.asOperator((tx) => insertOrganization(tx, settings, now())),
    list: () =>
      tenancy.asOperator(
        (tx) => tx<OrganizationRecord[]>`select ${columns(tx)} from organizations order by created_at, id`,
      ),
    isEmpty: () =>
      tenancy.asOperator(async (tx) => {
        const [row] = await tx<{ any: boolean }[]>`select exists (select from organizations) as any`
        return row?.any === false
      }),
    addCredit: (id, microUsd) =>
      tenancy.asOrganization(id, async (tx) => {
        const [row] = await tx<OrganizationRecord[]>`
          update organizations set credit_micro_usd = credit_micro_usd + ${microUsd} where id = ${id} returning ${columns(tx)}`
        return row ?? null
      }),
  }
}

async function insertOrganization(
  tx: Tx,
  settings: OrganizationSettings & { creditMicroUsd: number },
  now: Date,
): Promise<OrganizationRecord> {
  const [row] = await tx<OrganizationRecord[]>`
    insert into organizations
      (id, name, max_concurrency, credit_micro_usd, sms_enabled, rmsg_enabled, recording_enabled, created_at)
    values (${`org_${uniqueId()}`}, ${settings.name}, ${settings.maxConcurrency}, ${settings.creditMicroUsd},
      ${settings.smsEnabled}, ${settings.rmsgEnabled}, ${settings.recordingEnabled}, ${now})
    returning ${columns(tx)}`
  if (!row) throw new Error('an inserted organization was not returned')
  return row
}

const columns = (tx: Tx) => tx`
  id, name, max_concurrency as "maxConcurrency", credit_micro_usd as "creditMicroUsd", sms_enabled as "smsEnabled",
  rmsg_enabled as "rmsgEnabled", recording_enabled as "recordingEnabled", created_at as "createdAt"`
