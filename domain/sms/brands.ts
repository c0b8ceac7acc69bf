/** Manages an organization's brand: its business profile, its submission to the carrier, and its vetting. */
import {
  type BrandProfile,
  type RegisteredBrand,
  type SmsRegistry,
  SmsRegistryError,
  type VettingClass,
} from '../ports/sms-registry.ts'
import { leaveOut } from '../records/audit.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault, refuseIssues } from '../records/resource-fault.ts'
import type { Brand } from '../records/sms-registration.ts'
import { brandAfterSave, brandStatusOf, existsAtCarrier } from '../records/sms-states.ts'
import { askCarrier } from './ask-carrier.ts'
import { issuesOfBrand } from './check-brand.ts'
import { inTurn, type RegistrationDeps } from './in-turn.ts'
import { refreshCampaigns, refreshNumbers } from './refresh.ts'

export type VettingStatus = 'pending' | 'completed'

/** A method that refuses a request throws ResourceFault. */
export type Brands = {
  save(tenant: Tenant, profile: BrandProfile): Promise<Brand>
  /** Submits the brand. Also reads the statuses of campaigns and numbers at the carrier. */
  submit(tenant: Tenant): Promise<Brand>
  vet(tenant: Tenant, vettingClass: VettingClass): Promise<VettingStatus>
}

export function createBrands(deps: RegistrationDeps): Brands {
  const { store, isPhoneNumber } = deps
  return {
    async save(tenant, profile) {
      refuseIssues(issuesOfBrand(profile, isPhoneNumber))
      return changeBrand(deps, tenant, (brand) => saved(brand, profile))
    },
    submit: (tenant) =>
      inTurn(deps, tenant, async () => {
        const { brand } = await store.find(tenant)
        if (brand === null) throw new ResourceFault({ kind: 'sms_profile_missing', of: 'brand' })
        const submitted = await submit(deps, tenant, brand)
        await refreshCampaigns(deps, tenant)
        await refreshNumbers(deps, tenant)
        return submitted
      }),
    vet: (tenant, vettingClass) => inTurn(deps, tenant, () => vet(deps, tenant, vettingClass)),
  }
}

async function changeBrand(
  { store }: RegistrationDeps,
  tenant: Tenant,
  change: (brand: Brand | null) => Brand,
): Promise<Brand> {
  const { brand } = await store.change(tenant, (registration) => ({
    ...registration,
    brand: change(registration.brand),
  }))
  if (brand === null) throw new Error('a brand that was written is not there')
  return brand
}

function saved(brand: Brand | null, profile: BrandProfile): Brand {
  const status = brandAfterSave[brand?.status ?? 'draft']
  if (brand === null || !existsAtCarrier[status])
    return {
      profile,
      status,
      identityStatus: null,
      reviewErrors: [],
      submittedAtMs: null,
      carrierId: null,
      isChanged: true,
      intent: brand?.intent ?? null,
    }
  return { ...brand, profile, isChanged: brand.isChanged || !isSame(profile, brand.profile) }
}

const isSame = (one: BrandProfile, other: BrandProfile) => JSON.stringify(one) === JSON.stringify(other)

async function submit(deps: RegistrationDeps, tenant: Tenant, { profile, ...stored }: Brand): Promise<Brand> {
  const { registries, clock } = deps
  const sent = { ...stored, ...(await findLostBrand(deps, tenant, stored, profile)) }
  const id = existsAtCarrier[sent.status] ? sent.carrierId : null
  const hasNews = id === null || sent.isChanged
  if (!hasNews) leaveOut(tenant)
  // Each request whose answer was lost may have created the brand, so the time of the first request is kept.
  const asks = id === null ? { profile, askedAtMs: sent.intent?.askedAtMs ?? clock.nowMs() } : null
  if (asks) await changeBrand(deps, tenant, (brand) => ({ ...(brand ?? saved(null, profile)), intent: asks }))
  try {
    const answer = await ask(registries.of(tenant), id, hasNews ? profile : null)
    return await changeBrand(deps, tenant, (brand) => ({
      // A client may have saved the brand meanwhile, so the stored profile is kept.
      ...(brand ?? { profile }),
      ...asRegistered(answer),
      submittedAtMs: hasNews ? clock.nowMs() : sent.submittedAtMs,
      isChanged: brand !== null && !isSame(brand.profile, profile),
      intent: null,
    }))
  } catch (error) {
    if (!(error instanceof SmsRegistryError)) throw error
    const { reviewErrors } = error
    if (error.isUnknown && id !== null)
      return changeBrand(deps, tenant, (brand) => lost(brand ?? saved(null, profile), reviewErrors))
    if (hasNews) {
      const intent = error.mayBeDone && asks !== null ? asks : sent.intent
      await changeBrand(deps, tenant, (brand) => ({ ...(brand ?? saved(null, profile)), reviewErrors, intent }))
    }
    throw new ResourceFault({ kind: 'sms_carrier_failed', of: 'brand' }, { cause: error })
  }
}

/** The carrier's clock may be behind this server's clock by this much. */
const clockSkewMs = 300_000

/**
 * Finds a brand if the answer to its registration was lost. Registering it again would cost money, and the carrier
 * stores no reference for a brand, so the account's brands are searched. A brand that belongs to an organization here
 * is skipped, because two organizations may use the same names. A failed brand is skipped too, because it may have
 * failed with an earlier profile.
 */
async function findLostBrand(
  { store, registries }: RegistrationDeps,
  tenant: Tenant,
  { intent }: Pick<Brand, 'intent'>,
  profile: BrandProfile,
): Promise<Partial<Brand>> {
  if (intent === null) return {}
  const sinceMs = intent.askedAtMs - clockSkewMs
  const alike = await askCarrier('brand', () => registries.of(tenant).findBrandsLike(intent.profile, sinceMs))
  const owned = await store.ownedBrands(alike.map(({ id }) => id))
  const match = alike.find((brand) => !owned.has(brand.id) && brandStatusOf(brand) !== 'failed')
  if (match === undefined) return {}
  const isChanged = !isSame(intent.profile, profile)
  // The status is read later. Until then the brand counts as registered at the carrier.
  return { status: 'pending', carrierId: match.id, isChanged, submittedAtMs: intent.askedAtMs }
}

/** Returns the brand as stored once the carrier no longer has it: failed. The next submission registers it again. */
function lost(brand: Brand, reviewErrors: Brand['reviewErrors']): Brand {
  return { ...brand, status: 'failed', identityStatus: null, carrierId: null, reviewErrors }
}

/**
 * Registers, updates or reads the brand at the carrier. `profile` is null if the carrier already has the current
 * profile.
 */
function ask(registry: SmsRegistry, id: string | null, profile: BrandProfile | null): Promise<RegisteredBrand> {
  if (profile === null) return registry.findBrand(id ?? '')
  return id === null ? registry.createBrand(profile) : registry.updateBrand(id, profile)
}

const asRegistered = (answer: RegisteredBrand) => ({
  status: brandStatusOf(answer),
  identityStatus: answer.identityStatus,
  reviewErrors: answer.reviewErrors,
  carrierId: answer.id,
})

async function vet(deps: RegistrationDeps, tenant: Tenant, vettingClass: VettingClass): Promise<VettingStatus> {
  const { store, registries, vettingProvider } = deps
  const { brand } = await store.find(tenant)
  const id = brand?.carrierId ?? null
  if (id === null) throw new ResourceFault({ kind: 'sms_brand_missing' })
  const registry = registries.of(tenant)
  const order = async () => {
    const existing = await registry.findVetting(id, vettingClass)
    if (existing === null) await registry.orderVetting(id, vettingProvider, vettingClass)
    const answer = await registry.findBrand(id)
    await changeBrand(deps, tenant, (stored) => ({ ...(stored ?? brand!), ...asRegistered(answer) }))
    return existing ?? 'pending'
  }
  return askCarrier('vetting', order, async ({ reviewErrors }) => {
    if (reviewErrors.length > 0) await changeBrand(deps, tenant, (stored) => ({ ...(stored ?? brand!), reviewErrors }))
  })
}
