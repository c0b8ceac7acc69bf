/** The operations on an organization's registration for text messages in the USA (10DLC). */
import type { BrandProfile, CampaignProfile } from '../../domain/ports/sms-registry.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { PhoneNumber } from '../../domain/records/phone-number.ts'
import {
  type Brand,
  type OwnCampaign,
  ownCampaignOf,
  type SharedCampaign,
} from '../../domain/records/sms-registration.ts'
import type { SmsRegistrations } from '../../domain/sms/sms-registrations.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type {
  SmsBrandProfile,
  SmsCampaignProfile,
  SmsBrand as WireBrand,
  SmsCampaign as WireCampaign,
  SmsNumber as WireNumber,
  SharedSmsCampaign as WireShared,
} from '../../generated/platform/types.ts'
import type { Repeatable } from './repeatable.ts'
import { timeOrNull } from './times.ts'

type Handlers = PlatformHandlers<Caller>

/** The contract's limit for review errors. */
const reviewErrorsMax = 64

export function smsRegistrationOperations(registrations: SmsRegistrations, repeatable: Repeatable) {
  const { brands, campaigns, assignments } = registrations
  const wireNumber = (number: PhoneNumber) => wireSmsNumber(number, registrations.isEligible(number))
  return {
    getSmsRegistration: async (_request, { caller }) => {
      const { registration, shared, numbers, isReady, activeSource } = await registrations.overview(tenantOf(caller))
      return {
        status: 200,
        body: {
          ownBrand: wireBrand(registration.brand),
          ownCampaign: wireCampaign(ownCampaignOf(registration)),
          sharedCampaign: wireShared(shared),
          numbers: numbers.map((number) => ({
            ...wireNumber(number),
            reviewErrors: number.smsReviewErrors.slice(0, reviewErrorsMax),
          })),
          smsReady: isReady,
          activeCampaignSource: activeSource,
        },
      }
    },
    saveSmsBrand: async ({ body }, { caller }) => ({
      status: 200,
      body: brandState(await brands.save(tenantOf(caller), brandProfileOf(body))),
    }),
    submitSmsBrand: async (_request, { caller }) => ({
      status: 200,
      body: brandState(await brands.submit(tenantOf(caller))),
    }),
    orderSmsBrandVetting: async ({ body: { vettingClass } }, { caller }) => ({
      status: 200,
      body: { status: await brands.vet(tenantOf(caller), vettingClass), vettingClass },
    }),
    saveSmsCampaign: async ({ body }, { caller }) => ({
      status: 200,
      body: campaignState(await campaigns.save(tenantOf(caller), campaignProfileOf(body))),
    }),
    submitSmsCampaign: repeatable(async (_request, { caller }) => ({
      status: 200 as const,
      body: campaignState(await campaigns.submit(tenantOf(caller))),
    })),
    assignSmsNumber: async ({ path, body }, { caller }) => ({
      status: 200,
      body: wireNumber(await assignments.assign(tenantOf(caller), path.phoneNumberId, body?.target ?? null)),
    }),
    unassignSmsNumber: async ({ path }, { caller }) => ({
      status: 200,
      body: wireNumber(await assignments.unassign(tenantOf(caller), path.phoneNumberId)),
    }),
  } satisfies Partial<Handlers>
}

/** Reads a brand. Its fields always have the same order, so that two profiles can be compared as JSON. */
function brandProfileOf({ authorizedContact, ...body }: SmsBrandProfile): BrandProfile {
  const { firstName, lastName, email, phone } = authorizedContact
  return {
    legalName: body.legalName,
    displayName: body.displayName,
    entityType: body.entityType,
    vertical: body.vertical,
    ein: body.ein ?? null,
    website: body.website,
    country: body.country ?? 'US',
    street: body.street,
    city: body.city,
    state: body.state,
    postalCode: body.postalCode,
    supportEmail: body.supportEmail,
    supportPhone: body.supportPhone,
    authorizedContact: { firstName, lastName, email, phone },
  }
}

function campaignProfileOf(body: SmsCampaignProfile): CampaignProfile {
  const { optInKeywords = 'START', helpKeywords = 'HELP', optOutKeywords = 'STOP', optInMessage = null } = body
  const { embeddedLink = false, embeddedPhone = false } = body
  return { ...body, optInKeywords, optInMessage, helpKeywords, optOutKeywords, embeddedLink, embeddedPhone }
}

const brandState = (brand: Brand) => ({
  status: brand.status,
  identityStatus: brand.identityStatus,
  ownBrand: wireBrand(brand),
})
const campaignState = (own: OwnCampaign) => ({ status: own.status, ownCampaign: wireCampaign(own) })

function wireBrand(brand: Brand | null): WireBrand | null {
  if (brand === null) return null
  const { status, identityStatus, reviewErrors, submittedAtMs, isChanged } = brand
  const { ein, ...profile } = brand.profile
  return {
    status,
    identityStatus,
    profile: { ...profile, ...(ein !== null && { ein }) } as SmsBrandProfile,
    reviewErrors: reviewErrors.slice(0, reviewErrorsMax),
    submittedAt: timeOrNull(submittedAtMs),
    hasUnsubmittedChanges: isChanged,
  }
}

function wireCampaign(own: OwnCampaign | null): WireCampaign | null {
  if (own === null) return null
  const { status, campaignId, reviewErrors, submittedAtMs } = own
  const { optInMessage, ...rest } = own.profile
  const profile = { ...rest, ...(optInMessage !== null && { optInMessage }) } as SmsCampaignProfile
  const submittedAt = timeOrNull(submittedAtMs)
  const shown = reviewErrors.slice(0, reviewErrorsMax)
  return { status, campaignId, useCase: profile.useCase, profile, reviewErrors: shown, submittedAt }
}

function wireShared(campaign: SharedCampaign | null): WireShared {
  if (campaign === null) return { available: false, label: null, campaignId: null, status: null }
  const { label, campaignId, status } = campaign
  return { available: status === 'active', label, campaignId, status }
}

function wireSmsNumber({ id, e164, label, smsAssignment }: PhoneNumber, smsEligible: boolean): WireNumber {
  return {
    id,
    e164,
    label,
    smsEligible,
    smsAssignmentStatus: smsAssignment?.status ?? null,
    assignedTo: smsAssignment?.assignedTo ?? null,
    campaignId: smsAssignment?.campaignId ?? null,
  }
}
