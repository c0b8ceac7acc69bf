import type { Organization } from '../domain/access/organization.ts'
import type { Clock } from '../domain/ports/system.ts'
import { uniqueId } from '../runtime/clock.ts'
import type { Tx } from './connect.ts'
import { notifyKeyChange } from './key-changes.ts'
import type { Tenancy } from './tenant.ts'

export type OrganizationSettings = {
  name: string
  /** Null: no limit. */
  maxConcurrency: number | null
  smsEnabled: boolean
  rmsgEnabled: boolean
  recordingEnabled: boolean
}
export type OrganizationChanges = Partial<OrganizationSettings & { creditMicroUsd: number }>
export type OrganizationRecord = Organization & OrganizationSettings & { creditMicroUsd: number; createdAt: Date }

/** For the operator. Null: no such organization. */
export type Organizations = {
  create(settings: OrganizationSettings & { creditMicroUsd: number }): Promise<OrganizationRecord>
  list(): Promise<OrganizationRecord[]>
  isEmpty(): Promise<boolean>
  find(id: string): Promise<OrganizationRecord | null>
  /** Changes what is named and leaves the rest. Every instance obeys at once. */
  change(id: string, changes: OrganizationChanges): Promise<OrganizationRecord | null>
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
        const [row] = await tx<{ occupied: boolean }[]>`select exists (select from organizations) as occupied`
        return row?.occupied === false
      }),
    find: (id) =>
      tenancy.asOrganization(id, async (tx) => {
        const [row] = await tx<OrganizationRecord[]>`select ${columns(tx)} from organizations where id = ${id}`
        return row ?? null
      }),
    change: (id, changes) => tenancy.asOrganization(id, (tx) => changeOrganization(tx, id, changes)),
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

async function changeOrganization(
  tx: Tx,
  id: string,
  changes: OrganizationChanges,
): Promise<OrganizationRecord | null> {
  // Only these names reach the statement.
  const values = {
    ...(changes.name !== undefined && { name: changes.name }),
    ...(changes.creditMicroUsd !== undefined && { credit_micro_usd: changes.creditMicroUsd }),
    ...(changes.maxConcurrency !== undefined && { max_concurrency: changes.maxConcurrency }),
    ...(changes.smsEnabled !== undefined && { sms_enabled: changes.smsEnabled }),
    ...(changes.rmsgEnabled !== undefined && { rmsg_enabled: changes.rmsgEnabled }),
    ...(changes.recordingEnabled !== undefined && { recording_enabled: changes.recordingEnabled }),
  }
  const [row] = await tx<OrganizationRecord[]>`
    update organizations set ${tx(values)} where id = ${id} returning ${columns(tx)}`
  // Keys are remembered with the name and the limit of their organization.
  if (row) await notifyKeyChange(tx, { organizationId: id })
  return row ?? null
}

const columns = (tx: Tx) => tx`
  id, name, max_concurrency as "maxConcurrency", credit_micro_usd as "creditMicroUsd", sms_enabled as "smsEnabled",
  rmsg_enabled as "rmsgEnabled", recording_enabled as "recordingEnabled", created_at as "createdAt"`
