/** Converts brand and campaign profiles to Telnyx' request bodies. */
import type { BrandProfile, CampaignProfile } from '../../domain/ports/sms-registry.ts'
import type { JsonObject } from '../wire/json.ts'

/** Returns the body for UpdateBrand. Unlike CreateBrand, UpdateBrand has no field for the contact's phone. */
export function brandUpdate(profile: BrandProfile): JsonObject {
  const { authorizedContact, ein, entityType, country } = profile
  return {
    entityType,
    displayName: profile.displayName,
    companyName: profile.legalName,
    firstName: authorizedContact.firstName,
    lastName: authorizedContact.lastName,
    // The carrier accepts `businessContactEmail` only for the entity type `PUBLIC_PROFIT`.
    ...(entityType === 'PUBLIC_PROFIT' && { businessContactEmail: authorizedContact.email }),
    // A US tax number is nine digits, without the usual hyphen.
    ...(ein !== null && { ein: country === 'US' ? ein.replaceAll('-', '') : ein }),
    phone: profile.supportPhone,
    street: profile.street,
    city: profile.city,
    state: profile.state,
    postalCode: profile.postalCode,
    country,
    email: profile.supportEmail,
    website: profile.website,
    vertical: profile.vertical,
  }
}

/** Returns the body for CreateBrand. */
export const brandBody = (profile: BrandProfile): JsonObject => ({
  ...brandUpdate(profile),
  mobilePhone: profile.authorizedContact.phone,
})

/** Returns the body for a new campaign (CampaignRequest). */
export function campaignBody(brandId: string, profile: CampaignProfile): JsonObject {
  const samples = profile.sampleMessages.map((text, index): [string, string] => [`sample${index + 1}`, text])
  return {
    brandId,
    usecase: profile.useCase,
    description: profile.description,
    messageFlow: profile.messageFlow,
    ...Object.fromEntries(samples),
    subscriberOptin: true,
    optinKeywords: withoutSpaces(profile.optInKeywords),
    ...(profile.optInMessage !== null && { optinMessage: profile.optInMessage }),
    subscriberHelp: true,
    helpKeywords: withoutSpaces(profile.helpKeywords),
    helpMessage: profile.helpMessage,
    subscriberOptout: true,
    optoutKeywords: withoutSpaces(profile.optOutKeywords),
    optoutMessage: profile.optOutMessage,
    embeddedLink: profile.embeddedLink,
    embeddedPhone: profile.embeddedPhone,
    termsAndConditions: true,
  }
}

/** Removes the spaces, as Telnyx' documentation requires: "Multiple keywords are comma separated without space." */
const withoutSpaces = (keywords: string) =>
  keywords
    .split(',')
    .map((keyword) => keyword.trim())
    .join(',')

/** Maps a carrier field to our profile's field. Returns null if our profile has no such field. */
export function profileFieldOf(carrierField: string): string | null {
  const [, sample] = /^sample([1-5])$/.exec(carrierField) ?? []
  if (sample !== undefined) return `sampleMessages.${Number(sample) - 1}`
  return profileFields.get(carrierField) ?? null
}

const sameNames = [
  'displayName',
  'entityType',
  'vertical',
  'ein',
  'website',
  'country',
  'street',
  'city',
  'state',
  'postalCode',
  'description',
  'messageFlow',
  'helpKeywords',
  'helpMessage',
  'embeddedLink',
  'embeddedPhone',
]
const profileFields: ReadonlyMap<string, string> = new Map([
  ...sameNames.map((name) => [name, name] as const),
  ['companyName', 'legalName'],
  ['email', 'supportEmail'],
  ['phone', 'supportPhone'],
  ['firstName', 'authorizedContact.firstName'],
  ['lastName', 'authorizedContact.lastName'],
  ['businessContactEmail', 'authorizedContact.email'],
  ['mobilePhone', 'authorizedContact.phone'],
  ['usecase', 'useCase'],
  ['optinKeywords', 'optInKeywords'],
  ['optinMessage', 'optInMessage'],
  ['optoutKeywords', 'optOutKeywords'],
  ['optoutMessage', 'optOutMessage'],
])
