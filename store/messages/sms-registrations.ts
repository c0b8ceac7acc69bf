/**
 * Registrations for text messages. Every statement reads or writes one organization's live or test rows, except
 * statements about shared campaigns.
 */
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { PhoneNumber } from '../../domain/records/phone-number.ts'
import { numbersMax } from '../../domain/records/phone-number.ts'
import type {
  Brand,
  Registration,
  SharedCampaign,
  SharedCampaignStore,
  SmsRegistrationStore,
  SubmittedCampaign,
} from '../../domain/records/sms-registration.ts'
import { smsStatusOf } from '../../domain/rmsg/sms-status.ts'
import type { NumberCampaigns } from '../../domain/sms/in-turn.ts'
import { isNumberId, ofNumber, ofTenant, readNumbers } from '../numbers/number-rows.ts'
import { writeSmsStatus } from '../numbers/rmsg-sms-status.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral, dateOrNull, storable } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'

export function createSmsRegistrationStore(
  worlds: Worlds & Pick<Tenancy, 'asOperator'>,
  clock: Clock,
): SmsRegistrationStore {
  return {
    find: (tenant) => worlds.asTenant(tenant, (tx) => read(tx, tenant)),
    change: (tenant, change) =>
      worlds.asTenant(tenant, async (tx) => {
        await insertEmpty(tx, tenant)
        await tx`select from sms_registrations ${ofTenant(tx, tenant)} for update`
        const changed = change(await read(tx, tenant))
        await write(tx, tenant, changed)
        return changed
      }),
    claim: (tenant, untilMs) =>
      worlds.asTenant(tenant, async (tx) => {
        await insertEmpty(tx, tenant)
        const { count } = await tx`
          update sms_registrations set claimed_until = ${new Date(untilMs)}
          ${ofTenant(tx, tenant)} and (claimed_until is null or claimed_until <= ${new Date(clock.nowMs())})`
        return count > 0
      }),
    release: (tenant) =>
      worlds.asTenant(
        tenant,
        async (tx) => void (await tx`update sms_registrations set claimed_until = null ${ofTenant(tx, tenant)}`),
      ),
    ownedBrands: (carrierIds) =>
      worlds.asOperator(async (tx) => {
        const rows = await tx<{ id: string }[]>`
          select brand_carrier_id as id from sms_registrations where brand_carrier_id = any(${arrayLiteral(carrierIds)}::text[])`
        return new Set(rows.map(({ id }) => id))
      }),
  }
}

export function createSharedCampaignStore(tenancy: Tenancy): SharedCampaignStore {
  return {
    find: () =>
      tenancy.asOperator(async (tx) => {
        const [row] = await tx<SharedCampaign[]>`
          select label, campaign_id as "campaignId", status from sms_shared_campaign`
        return row ?? null
      }),
    set: (campaign) =>
      tenancy.asOperator(async (tx) => {
        await tx`delete from sms_shared_campaign`
        if (campaign === null) return
        const { label, campaignId, status } = campaign
        await tx`insert into sms_shared_campaign (label, campaign_id, status) values (${label}, ${campaignId}, ${status})`
      }),
  }
}

export function createNumberCampaigns(worlds: Worlds & Pick<Tenancy, 'asOperator'>, clock: Clock): NumberCampaigns {
  return {
    list: (tenant) =>
      worlds.asTenant(tenant, (tx) =>
        readNumbers(tx, tx`${ofTenant(tx, tenant)} order by created_at, id limit ${numbersMax}`),
      ),
    find: async (tenant, id) => {
      if (!isNumberId(id)) return null
      return worlds.asTenant(tenant, (tx) => readOne(tx, tenant, id))
    },
    // Runs with the operator's access, because the tenant cannot see a rich-message number outside its pool. Such a
    // number may be this phone number.
    assign: (tenant, id, { smsAssignment: assignment, smsReviewErrors }) =>
      worlds.asOperator(async (tx) => {
        await tx`
          update phone_numbers set sms_campaign_id = ${assignment?.campaignId ?? null},
            sms_assignment_status = ${assignment?.status ?? null}, sms_assigned_to = ${assignment?.assignedTo ?? null},
            sms_assignment_updated_at = ${dateOrNull(assignment?.updatedAtMs ?? null)},
            sms_review_errors = ${json(smsReviewErrors)}::text::json
          ${ofNumber(tx, tenant, id)}`
        const number = await readOne(tx, tenant, id)
        if (number !== null) await writeSmsStatus(tx, number, smsStatusOf(assignment), new Date(clock.nowMs()))
        return number
      }),
  }
}

async function readOne(tx: Tx, tenant: Tenant, id: string): Promise<PhoneNumber | null> {
  return (await readNumbers(tx, ofNumber(tx, tenant, id)))[0] ?? null
}

async function insertEmpty(tx: Tx, { organizationId, test }: Tenant): Promise<void> {
  await tx`
    insert into sms_registrations (organization_id, test) values (${organizationId}, ${test}) on conflict do nothing`
}

type Row = Omit<Brand, 'profile' | 'submittedAtMs'> & {
  brandProfile: Brand['profile'] | null
  submittedAt: Date | null
  campaignProfile: NonNullable<Registration['campaign']>['profile'] | null
  campaignErrors: Brand['reviewErrors']
  campaignIntent: NonNullable<Registration['campaign']>['intent']
}
type CampaignRow = Omit<SubmittedCampaign, 'submittedAtMs'> & { submittedAt: Date }

async function read(tx: Tx, tenant: Tenant): Promise<Registration> {
  const [row] = await tx<Row[]>`
    select brand_profile as "brandProfile", brand_status as status, identity_status as "identityStatus",
      brand_review_errors as "reviewErrors", brand_submitted_at as "submittedAt", brand_carrier_id as "carrierId",
      brand_is_changed as "isChanged", brand_intent as intent, campaign_profile as "campaignProfile",
      campaign_review_errors as "campaignErrors", campaign_intent as "campaignIntent"
    from sms_registrations ${ofTenant(tx, tenant)}`
  if (row === undefined) return { brand: null, campaign: null, submitted: [] }
  const { brandProfile, submittedAt, campaignProfile, campaignErrors, campaignIntent, ...brand } = row
  const campaigns = await tx<CampaignRow[]>`
    select id, status, review_errors as "reviewErrors", submitted_at as "submittedAt"
    from sms_campaigns ${ofTenant(tx, tenant)} order by number desc`
  return {
    brand: brandProfile && { ...brand, profile: brandProfile, submittedAtMs: submittedAt?.getTime() ?? null },
    campaign: campaignProfile && { profile: campaignProfile, reviewErrors: campaignErrors, intent: campaignIntent },
    submitted: campaigns.map(({ submittedAt, ...one }) => ({ ...one, submittedAtMs: submittedAt.getTime() })),
  }
}

async function write(tx: Tx, tenant: Tenant, { brand, campaign, submitted }: Registration): Promise<void> {
  await tx`
    update sms_registrations set brand_profile = ${jsonOrNull(brand?.profile)}::text::json,
      brand_status = ${brand?.status ?? 'draft'}, identity_status = ${brand?.identityStatus ?? null},
      brand_review_errors = ${json(brand?.reviewErrors)}::text::json,
      brand_submitted_at = ${dateOrNull(brand?.submittedAtMs ?? null)}, brand_carrier_id = ${brand?.carrierId ?? null},
      brand_is_changed = ${brand?.isChanged ?? true},
      brand_intent = ${jsonOrNull(brand?.intent ?? undefined)}::text::json, campaign_profile = ${jsonOrNull(campaign?.profile)}::text::json,
      campaign_review_errors = ${json(campaign?.reviewErrors)}::text::json,
      campaign_intent = ${jsonOrNull(campaign?.intent ?? undefined)}::text::json
    ${ofTenant(tx, tenant)}`
  const { organizationId, test } = tenant
  // Inserts the oldest submission first, because the database numbers them in this order.
  for (const { id, status, reviewErrors, submittedAtMs } of submitted.toReversed())
    await tx`
      insert into sms_campaigns (organization_id, test, id, status, review_errors, submitted_at)
      values (${organizationId}, ${test}, ${id}, ${status}, ${json(reviewErrors)}::text::json, ${new Date(submittedAtMs)})
      on conflict (organization_id, test, id) do update
        set status = excluded.status, review_errors = excluded.review_errors`
}

const json = (errors: Brand['reviewErrors'] | undefined) => storable(JSON.stringify(errors ?? []))
const jsonOrNull = (profile: object | undefined) => (profile === undefined ? null : JSON.stringify(profile))
