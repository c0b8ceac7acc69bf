import type { Clock } from '../../domain/ports/system.ts'
import type { AuditEntry } from '../../domain/records/audit.ts'
import type { OrganizationRecord, OrganizationSettings } from '../../domain/records/organization-settings.ts'
import { isTimezone } from '../../domain/records/time-zone.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { noteMovement } from '../billing/credit-movements.ts'
import { notifyKeyChange } from '../caches/key-changes.ts'
import { notifyOrganizationAdded } from '../caches/organization-notices.ts'
import { locks } from '../postgres/advisory-locks.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { setZone, unlessZoneUnknown } from '../postgres/time-zones.ts'
import { isUniqueViolation } from '../postgres/unique-violation.ts'

/** The settings for a new organization. The database has defaults for all other settings. */
export type NewOrganization = Pick<
  OrganizationSettings,
  'name' | 'maxConcurrency' | 'smsEnabled' | 'rmsgEnabled' | 'recordingEnabled'
> & { creditMicroUsd: number }
export type OrganizationChanges = Partial<OrganizationSettings & { creditMicroUsd: number }>

type Changed = OrganizationRecord | 'admin_taken' | 'legacy_ended' | 'zone_unknown' | null

/** The operator's administration. Methods return null if the organization does not exist. */
export type Organizations = {
  create(settings: NewOrganization): Promise<OrganizationRecord>
  list(): Promise<OrganizationRecord[]>
  isEmpty(): Promise<boolean>
  /** True if at least two organizations are enabled. */
  areSeveral(): Promise<boolean>
  find(id: string): Promise<OrganizationRecord | null>
  /**
   * Changes the given settings and leaves the rest. The change takes effect at once in every instance. Returns
   * `admin_taken` if another organization is the admin organization, `zone_unknown` if this process or the database
   * lacks the time zone, and `legacy_ended` if the organization has had a number in its pool: it may then no longer see
   * the whole rich-message inventory.
   */
  change(id: string, changes: OrganizationChanges, entry?: AuditEntry): Promise<Changed>
  /**
   * `createNamed` and `changeNamed` serve commands, because commands identify an organization by name. They return
   * `name_taken` if another organization has the name.
   */
  createNamed(settings: NewOrganization): Promise<OrganizationRecord | 'name_taken'>
  changeNamed(id: string, changes: OrganizationChanges): Promise<Changed | 'name_taken'>
  /** Adds to the organization's credit. `microUsd` may be negative. */
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
    areSeveral: () =>
      tenancy.asOperator(async (tx) => {
        const rows = await tx`select from organizations where not is_disabled limit 2`
        return rows.length === 2
      }),
    find: (id) => tenancy.asOrganization(id, (tx) => readOrganization(tx, id)),
    change: (id, changes, entry) =>
      orConflict(tenancy.asOrganization(id, (tx) => changeOrganization(tx, id, changes, now()), entry)),
    createNamed: (settings) =>
      tenancy.asOperator(async (tx) =>
        (await isNameInUse(tx, settings.name, null)) ? 'name_taken' : insertOrganization(tx, settings, now()),
      ),
    changeNamed: (id, changes) =>
      orConflict(
        tenancy.asOperator(async (tx) =>
          changes.name !== undefined && (await isNameInUse(tx, changes.name, id))
            ? 'name_taken'
            : changeOrganization(tx, id, changes, now()),
        ),
      ),
    addCredit: (id, microUsd) =>
      tenancy.asOrganization(id, async (tx) => {
        const [row] = await tx<OrganizationRecord[]>`
          update organizations set credit_micro_usd = credit_micro_usd + ${microUsd} where id = ${id} returning ${columns(tx)}`
        if (row) await noteMovement(tx, { organizationId: id, kind: 'operator', microUsd }, now())
        return row ?? null
      }),
  }
}

/**
 * Returns true if another organization has the name. Takes a lock, so no other command assigns a name until the
 * transaction ends. There is no unique index, because older databases have duplicate names.
 */
async function isNameInUse(tx: Tx, name: string, exceptId: string | null): Promise<boolean> {
  await tx`select pg_advisory_xact_lock(${locks.organizationNames})`
  const [row] = await tx<{ taken: boolean }[]>`
    select exists (select from organizations where name = ${name} and id is distinct from ${exceptId}) as taken`
  return row?.taken === true
}

async function orConflict<T>(change: Promise<T>): Promise<T | 'admin_taken' | 'zone_unknown'> {
  try {
    return await unlessZoneUnknown(change)
  } catch (error) {
    if (isUniqueViolation(error, 'organizations_one_admin')) return 'admin_taken'
    throw error
  }
}

export async function insertOrganization(tx: Tx, settings: NewOrganization, now: Date): Promise<OrganizationRecord> {
  const [row] = await tx<OrganizationRecord[]>`
    insert into organizations
      (id, name, max_concurrency, credit_micro_usd, sms_enabled, rmsg_enabled, recording_enabled, created_at)
    values (${`org_${uniqueId()}`}, ${settings.name}, ${settings.maxConcurrency}, ${settings.creditMicroUsd},
      ${settings.smsEnabled}, ${settings.rmsgEnabled}, ${settings.recordingEnabled}, ${now})
    returning ${columns(tx)}`
  if (!row) throw new Error('an inserted organization was not returned')
  await notifyOrganizationAdded(tx)
  await noteMovement(tx, { organizationId: row.id, kind: 'operator', microUsd: row.creditMicroUsd }, now)
  return row
}

async function readOrganization(tx: Tx, id: string): Promise<OrganizationRecord | null> {
  const [row] = await tx<OrganizationRecord[]>`select ${columns(tx)} from organizations where id = ${id}`
  return row ?? null
}

async function changeOrganization(
  tx: Tx,
  id: string,
  changes: OrganizationChanges,
  now: Date,
): Promise<OrganizationRecord | 'legacy_ended' | 'zone_unknown' | null> {
  // Copies the known settings one by one, so that no other column can be written.
  const values = {
    ...(changes.name !== undefined && { name: changes.name }),
    ...(changes.creditMicroUsd !== undefined && { credit_micro_usd: changes.creditMicroUsd }),
    ...(changes.maxConcurrency !== undefined && { max_concurrency: changes.maxConcurrency }),
    ...(changes.maxSessions !== undefined && { max_sessions: changes.maxSessions }),
    ...(changes.rmsgLegacyInventory !== undefined && { rmsg_legacy_inventory: changes.rmsgLegacyInventory }),
    ...(changes.rmsgBackend !== undefined && { rmsg_backend: changes.rmsgBackend }),
    ...(changes.adminOrganization !== undefined && { admin_organization: changes.adminOrganization }),
    ...(changes.smsEnabled !== undefined && { sms_enabled: changes.smsEnabled }),
    ...(changes.rmsgEnabled !== undefined && { rmsg_enabled: changes.rmsgEnabled }),
    ...(changes.recordingEnabled !== undefined && { recording_enabled: changes.recordingEnabled }),
    ...(changes.timeZone !== undefined && { time_zone: changes.timeZone }),
    ...(changes.toolResults !== undefined && { tool_results: changes.toolResults }),
    ...(changes.messageText !== undefined && { message_text: changes.messageText }),
    ...(changes.isDisabled !== undefined && { is_disabled: changes.isDisabled }),
  }
  if (Object.keys(values).length === 0) return readOrganization(tx, id)
  if (changes.timeZone !== undefined) {
    if (!isTimezone(changes.timeZone)) return 'zone_unknown'
    // Postgres throws if it lacks the zone. Otherwise each later sum by day would fail. Also, people type names of
    // zones in small letters.
    values.time_zone = await setZone(tx, changes.timeZone)
  }
  if (changes.rmsgLegacyInventory === true && (await hasLegacyEnded(tx, id))) return 'legacy_ended'
  if (changes.creditMicroUsd !== undefined) await noteNewCredit(tx, id, changes.creditMicroUsd, now)
  const [row] = await tx<OrganizationRecord[]>`
    update organizations set ${tx(values)} where id = ${id} returning ${columns(tx)}`
  // Keys' cached copies contain their organization's settings, so the caches must forget them.
  if (row) await notifyKeyChange(tx, { organizationId: id })
  if (row && changes.isDisabled === false) await notifyOrganizationAdded(tx)
  return row ?? null
}

/**
 * Returns true if the organization has had a number in its pool. Locks the row, because another transaction may be
 * adding a number.
 */
async function hasLegacyEnded(tx: Tx, id: string): Promise<boolean> {
  const [row] = await tx<{ isEnded: boolean }[]>`
    select rmsg_legacy_ended as "isEnded" from organizations where id = ${id} for update`
  return row?.isEnded === true
}

/**
 * Records the credit change as a movement. Locks the row, so no other transaction changes the credit until this
 * transaction ends.
 */
async function noteNewCredit(tx: Tx, organizationId: string, newMicroUsd: number, now: Date): Promise<void> {
  const [old] = await tx<{ microUsd: number }[]>`
    select credit_micro_usd as "microUsd" from organizations where id = ${organizationId} for update`
  if (old) await noteMovement(tx, { organizationId, kind: 'operator', microUsd: newMicroUsd - old.microUsd }, now)
}

const columns = (tx: Tx) => tx`
  id, name, max_concurrency as "maxConcurrency", max_sessions as "maxSessions", admin_organization as "adminOrganization",
  rmsg_legacy_inventory as "rmsgLegacyInventory", rmsg_backend as "rmsgBackend", credit_micro_usd as "creditMicroUsd", sms_enabled as "smsEnabled",
  rmsg_enabled as "rmsgEnabled", recording_enabled as "recordingEnabled", time_zone as "timeZone",
  tool_results as "toolResults", message_text as "messageText", is_disabled as "isDisabled", created_at as "createdAt"`
