/**
 * Simulates the registration of businesses (brands) for text messages. The tax number (`ein`) decides the
 * registration's outcome, and the brand's id contains the outcome.
 *
 *   12-0000001 fails   12-0000002 is OK but UNVERIFIED after 5 s   12-0000003 stays pending   others VERIFIED after 5 s
 *
 * A changed profile and a vetting exist only in this process's memory.
 */
import { randomUUID } from 'node:crypto'
import { forgetOldest } from './bounded-memory.ts'
import { type Fields, textOrNull } from './fields.ts'
import type { SimulatorClock } from './media/clock.ts'
import { BadFields, notFound } from './refusal.ts'
import { checkedFields, type FieldRule } from './registry-fields.ts'
import { entryOf, newEntry, type RegistryEntry } from './registry-ids.ts'

const outcomes = ['verified', 'failed', 'unverified', 'pending'] as const
type Outcome = (typeof outcomes)[number]

const reviewMs = 5000
const vettingsMax = 10

type Vetting = { id: string; provider: string; vettingClass: string; orderedAtMs: number }
type Brand = RegistryEntry<Outcome> & { fields: Fields; reviewedFromMs: number; vettings: Vetting[] }

export class Brands {
  readonly #clock: Pick<SimulatorClock, 'nowMs'>
  /** The brands by id, the oldest first. */
  readonly #brands = new Map<string, Brand>()

  constructor(clock: Pick<SimulatorClock, 'nowMs'>) {
    this.#clock = clock
  }

  /** Handles POST /10dlc/brand. */
  create(body: Fields): object {
    const fields = brandFields(body, createRules)
    const entry = newEntry('brand', outcomes, outcomeOf(fields), this.#clock.nowMs())
    const brand = { ...entry, fields, reviewedFromMs: entry.createdAtMs, vettings: [] }
    this.#keep(brand)
    return this.#written(brand)
  }

  /** Handles PUT /10dlc/brand/{brandId}. If a new tax number changes the outcome, a new review begins. */
  update(id: string, body: Fields): object {
    const brand = this.#brand(id)
    const fields = brandFields(body, updateRules)
    const outcome = outcomeOf(fields)
    const reviewedFromMs = outcome === brand.outcome ? brand.reviewedFromMs : this.#clock.nowMs()
    const updated = { ...brand, fields, outcome, reviewedFromMs }
    this.#keep(updated)
    return this.#written(updated)
  }

  /** Handles GET /10dlc/brand. Lists only this process's brands, the newest first, on one page. */
  list(query: URLSearchParams): object {
    const displayName = query.get('displayName')
    const records = [...this.#brands.values()]
      .filter(({ fields }) => displayName === null || fields['displayName'] === displayName)
      .toReversed()
      .map((brand) => this.#listed(brand))
    return { records, page: 1, totalRecords: records.length }
  }

  /** Handles GET /10dlc/brand/{brandId}. */
  retrieve(id: string): object {
    return this.#written(this.#brand(id))
  }

  /** Handles POST /10dlc/brand/{brandId}/externalVetting. */
  orderVetting(id: string, body: Fields): object {
    const brand = this.#brand(id)
    const fields = checkedFields(body, vettingRules)
    const vetting = {
      id: randomUUID(),
      provider: String(fields['evpId']),
      vettingClass: String(fields['vettingClass']),
      orderedAtMs: this.#clock.nowMs(),
    }
    this.#keep({ ...brand, vettings: [vetting, ...brand.vettings].slice(0, vettingsMax) })
    return this.#vettingWritten(vetting)
  }

  /** Handles GET /10dlc/brand/{brandId}/externalVetting. */
  listVettings(id: string): object {
    return this.#brand(id).vettings.map((vetting) => this.#vettingWritten(vetting))
  }

  /** True if the brand's identity is verified. Null if the brand is unknown. */
  isVerified(id: string): boolean | null {
    const brand = this.#find(id)
    return brand && ['VERIFIED', 'VETTED_VERIFIED'].includes(this.#identityOf(brand) ?? '')
  }

  #brand(id: string): Brand {
    const brand = this.#find(id)
    if (!brand) throw notFound()
    return brand
  }

  #find(id: string): Brand | null {
    const entry = entryOf('brand', outcomes, id)
    const stored = this.#brands.get(id)
    return stored ?? (entry && { ...entry, fields: forgottenFields, reviewedFromMs: entry.createdAtMs, vettings: [] })
  }

  #keep(brand: Brand): void {
    this.#brands.set(brand.id, brand)
    forgetOldest(this.#brands)
  }

  #isPast(sinceMs: number): boolean {
    return this.#clock.nowMs() - sinceMs >= reviewMs
  }

  #statusOf({ outcome, reviewedFromMs }: Brand): 'OK' | 'REGISTRATION_PENDING' | 'REGISTRATION_FAILED' {
    if (outcome === 'failed') return 'REGISTRATION_FAILED'
    return outcome === 'pending' || !this.#isPast(reviewedFromMs) ? 'REGISTRATION_PENDING' : 'OK'
  }

  #identityOf(brand: Brand): 'VERIFIED' | 'UNVERIFIED' | 'VETTED_VERIFIED' | null {
    if (this.#statusOf(brand) !== 'OK') return null
    if (brand.vettings.some(({ orderedAtMs }) => this.#isPast(orderedAtMs))) return 'VETTED_VERIFIED'
    return brand.outcome === 'verified' ? 'VERIFIED' : 'UNVERIFIED'
  }

  #written(brand: Brand): Fields {
    const { id, fields, createdAtMs, reviewedFromMs } = brand
    const status = this.#statusOf(brand)
    const identityStatus = this.#identityOf(brand)
    return {
      ...fields,
      brandId: id,
      referenceId: id,
      brandRelationship: 'BASIC_ACCOUNT',
      status,
      ...(identityStatus !== null && { identityStatus }),
      ...(status === 'REGISTRATION_FAILED' && {
        failureReasons: 'The legal company name does not match the tax number (EIN).',
      }),
      createdAt: iso(createdAtMs),
      updatedAt: iso(reviewedFromMs),
    }
  }

  /** Returns a brand as an item in the list answer, without its tax number. */
  #listed(brand: Brand): object {
    const { brandId, entityType, companyName, displayName, email, website, status, createdAt } = this.#written(brand)
    const shown = { brandId, entityType, companyName, displayName, email, website, status, createdAt }
    return Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined))
  }

  #vettingWritten({ id, provider, vettingClass, orderedAtMs }: Vetting): object {
    return {
      evpId: provider,
      vettingId: id,
      vettingClass,
      createDate: iso(orderedAtMs),
      ...(this.#isPast(orderedAtMs) && { vettingScore: 82, vettedDate: iso(orderedAtMs + reviewMs) }),
    }
  }
}

const outcomesByEin: ReadonlyMap<string, Outcome> = new Map([
  ['120000001', 'failed'],
  ['120000002', 'unverified'],
  ['120000003', 'pending'],
])
const outcomeOf = (fields: Fields): Outcome =>
  outcomesByEin.get((textOrNull(fields, 'ein') ?? '').replaceAll('-', '')) ?? 'verified'

/** The required fields, for a brand registered in another process. Its real fields are unknown here. */
const forgottenFields: Fields = {
  entityType: 'PRIVATE_PROFIT',
  displayName: 'A simulated brand',
  country: 'US',
  email: 'support@example.com',
  vertical: 'TECHNOLOGY',
}

function brandFields(body: Fields, rules: Readonly<Record<string, FieldRule>>): Fields {
  const fields = checkedFields(body, rules)
  const missing = ['companyName', 'ein'].filter((name) => isNeeded(name, fields) && (fields[name] ?? '') === '')
  if (missing.length === 0) return fields
  throw new BadFields(missing.map((field) => ({ field, type: 'value_error.missing', text: 'field required' })))
}

/**
 * True if the carrier requires the field for this entity type. The carrier's API says for `companyName` "Required for
 * Non-profit/private/public", and for `ein` "Required for Non-profit".
 */
function isNeeded(name: string, { entityType }: Fields): boolean {
  if (name === 'ein') return entityType === 'NON_PROFIT'
  return ['NON_PROFIT', 'PRIVATE_PROFIT', 'PUBLIC_PROFIT'].includes(String(entityType))
}

const text = (max: number): FieldRule => ({ type: 'string', max })
const required = (max: number): FieldRule => ({ type: 'string', isRequired: true, max })
const oneOf = (values: string): FieldRule => ({ type: 'string', isRequired: true, values: values.split(' ') })
const updateRules: Readonly<Record<string, FieldRule>> = {
  entityType: oneOf('PRIVATE_PROFIT PUBLIC_PROFIT NON_PROFIT GOVERNMENT SOLE_PROPRIETOR'),
  displayName: required(100),
  companyName: text(100),
  firstName: text(100),
  lastName: text(100),
  ein: text(20),
  phone: text(20),
  street: text(100),
  city: text(100),
  state: text(20),
  postalCode: text(10),
  country: required(2),
  email: required(100),
  stockSymbol: text(10),
  website: text(100),
  vertical: oneOf(
    'REAL_ESTATE HEALTHCARE ENERGY ENTERTAINMENT RETAIL AGRICULTURE INSURANCE EDUCATION HOSPITALITY FINANCIAL GAMBLING CONSTRUCTION NGO MANUFACTURING GOVERNMENT TECHNOLOGY COMMUNICATION',
  ),
  businessContactEmail: text(100),
  isReseller: { type: 'boolean' },
}
const createRules: Readonly<Record<string, FieldRule>> = { ...updateRules, mobilePhone: text(20) }
const vettingRules: Readonly<Record<string, FieldRule>> = { evpId: required(10), vettingClass: required(50) }

const iso = (ms: number) => new Date(ms).toISOString()
