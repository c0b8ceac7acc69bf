/** Text message registration (10DLC) at Telnyx. The simulator has the same API at another base URL. */
import { ProviderError } from '../../domain/ports/provider-error.ts'
import {
  type AssignmentStatus,
  type BrandProfile,
  type IdentityStatus,
  type NumberAssignment,
  type RegisteredBrand,
  type RegisteredCampaign,
  type SmsRegistry,
  SmsRegistryError,
  type VettingClass,
} from '../../domain/ports/sms-registry.ts'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import { createHttpTransport, json, type VendorHttp } from '../wire/http.ts'
import { isObject, type JsonObject, objectsOf, stringOf } from '../wire/json.ts'
import { brandBody, brandUpdate, campaignBody } from './sms-profiles.ts'
import { failureReasonsIn, reviewErrorsIn } from './sms-reviews.ts'
import { codesIn, telnyxLimits, telnyxWire } from './wire.ts'

export type TelnyxSmsRegistryOptions = {
  /** The API's base URL with the version, without a slash at the end. */
  baseUrl: string
  apiKey: string
  /** The time limit for a request. */
  requestMs: number
  clock: Clock
}

const never: CancelSignal = { aborted: false, reason: null, addEventListener() {}, removeEventListener() {} }

export function createTelnyxSmsRegistry(options: TelnyxSmsRegistryOptions): SmsRegistry & { close(): Promise<void> } {
  const { baseUrl, apiKey, requestMs, clock } = options
  const limits = { ...telnyxLimits(requestMs), firstByteMs: requestMs, idleMs: requestMs, totalMs: requestMs }
  const transport = createHttpTransport({ baseUrl, wire: telnyxWire, limits, clock })
  const http: Link = { vendor: transport.signedWith(apiKey), apiKey }
  return {
    createBrand: async (profile) => brandIn(await requestValue(http, 'POST', '/10dlc/brand', brandBody(profile))),
    updateBrand: async (brandId, profile) =>
      brandIn(await requestValue(http, 'PUT', brandPath(brandId), brandUpdate(profile))),
    findBrand: async (brandId) => brandIn(await requestValue(http, 'GET', brandPath(brandId))),
    findBrandsLike: (profile, sinceMs) => findBrandsLike(http, profile, sinceMs),
    async orderVetting(brandId, provider, vettingClass) {
      await requestValue(http, 'POST', `${brandPath(brandId)}/externalVetting`, { evpId: provider, vettingClass })
    },
    findVetting: async (brandId, vettingClass) =>
      vettingIn(await requestValue(http, 'GET', `${brandPath(brandId)}/externalVetting`), vettingClass),
    createCampaign: async (brandId, profile, referenceId) =>
      campaignIn(
        await requestValue(http, 'POST', '/10dlc/campaignBuilder', { ...campaignBody(brandId, profile), referenceId }),
      ),
    findCampaignByReference: (brandId, reference) => findByReference(http, brandId, reference),
    findCampaign: async (campaignId) =>
      campaignIn(await requestValue(http, 'GET', `/10dlc/campaign/${encodeURIComponent(campaignId)}`)),
    assign: (e164, campaignId) => assign(http, e164, campaignId),
    unassign: (e164) => assignmentOf(http, 'DELETE', e164, 'PENDING_UNASSIGNMENT'),
    findAssignment: (e164) => assignmentOf(http, 'GET', e164, null),
    close: () => transport.close(),
  }
}

type Link = { vendor: VendorHttp; apiKey: string }
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

const brandPath = (brandId: string) => `/10dlc/brand/${encodeURIComponent(brandId)}`
const numbersPath = '/10dlc/phone_number_campaigns'
const numberPath = (e164: string) => `${numbersPath}/${encodeURIComponent(e164)}`

async function requestValue(http: Link, method: Method, path: string, body?: JsonObject): Promise<unknown> {
  const answer = await ask(http, method, path, body)
  if (isSuccess(answer.status)) return answer.value
  throw refusalIn(answer)
}

type Answer = { status: number; text: string; value: unknown }

async function ask(http: Link, method: Method, path: string, body?: JsonObject): Promise<Answer> {
  const payload = body === undefined ? null : json(body)
  const answer = await http.vendor.exchange(method, path, payload, never).catch((error: unknown) => {
    throw new SmsRegistryError([], { mayBeDone: true, cause: withoutText(error) })
  })
  // A refusal's reasons are shown to customers, so the API key is removed from the text.
  const text = answer.body.toString().replaceAll(http.apiKey, '[key]')
  return { status: answer.status, text, value: parsed(text) }
}

const isSuccess = (status: number) => status === 200 || status === 201

/** Returns the error for a refusal. The carrier's text repeats the profile, so the logged cause has only its codes. */
function refusalIn({ status, text, value }: Answer): SmsRegistryError {
  const cause = new Error(`status ${status}, codes ${codesIn(text).join(' ')}`)
  return new SmsRegistryError(reviewErrorsIn(status, value), {
    isUnknown: status === 404,
    mayBeDone: status >= 500,
    cause,
  })
}

function withoutText(error: unknown): unknown {
  return error instanceof ProviderError ? new Error(`${error.errorClass}, no answer`) : error
}

const unexpected = (missing: string) =>
  new SmsRegistryError([], { mayBeDone: true, cause: new Error(`the answer has no ${missing}`) })

/** Parses JSON. Returns undefined if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function brandIn(answer: unknown): RegisteredBrand {
  const row = isObject(answer) ? answer : {}
  const id = idIn(row, 'brandId')
  const status = brandStatuses.find((each) => each === (row['status'] ?? 'REGISTRATION_PENDING'))
  if (status === undefined) throw unexpected('known status')
  const identityStatus = identityStatuses.find((each) => each === row['identityStatus']) ?? null
  return { id, status, identityStatus, reviewErrors: failureReasonsIn(row) }
}

const brandStatuses = ['OK', 'REGISTRATION_PENDING', 'REGISTRATION_FAILED'] as const
const identityStatuses: readonly IdentityStatus[] = ['VERIFIED', 'UNVERIFIED', 'SELF_DECLARED', 'VETTED_VERIFIED']

/**
 * The page size when the carrier lists all brands with one name. More recent brands with the same name are not
 * expected.
 */
const brandsOfPage = 50
const brandsLikeMax = 20

/**
 * Returns the recent brands with this profile. The list's items contain no tax number, so each matching brand is
 * requested.
 */
async function findBrandsLike(http: Link, profile: BrandProfile, sinceMs: number): Promise<RegisteredBrand[]> {
  const expected = brandBody(profile)
  const names = ['displayName', 'companyName', 'entityType']
  const fits = (row: JsonObject, fields: readonly string[]) =>
    fields.every((field) => stringOf(row[field]) === stringOf(expected[field]))
  const query = `displayName=${encodeURIComponent(profile.displayName)}&recordsPerPage=${brandsOfPage}&sort=-createdAt`
  const answer = await requestValue(http, 'GET', `/10dlc/brand?${query}`)
  const rows = objectsOf(isObject(answer) ? answer['records'] : [])
    .filter((row) => fits(row, names) && utcMs(row['createdAt']) >= sinceMs)
    .slice(0, brandsLikeMax)
  const whole = await Promise.all(rows.map((row) => brandRow(http, idIn(row, 'brandId'))))
  return whole.filter((row) => isObject(row) && fits(row, ['ein'])).map(brandIn)
}

/** Requests a brand. Returns null if the brand was removed after it was listed. */
async function brandRow(http: Link, brandId: string): Promise<unknown> {
  const answer = await ask(http, 'GET', brandPath(brandId))
  if (answer.status === 404) return null
  if (isSuccess(answer.status)) return answer.value
  throw refusalIn(answer)
}

/**
 * Returns a time in milliseconds. The carrier writes UTC times without a Z. An item without a time counts as the
 * oldest.
 */
function utcMs(time: unknown): number {
  const text = stringOf(time)
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`) || 0
}

/** Returns the newest vetting's state. A vetting gets its date when it is complete. */
function vettingIn(answer: unknown, vettingClass: VettingClass): 'pending' | 'completed' | null {
  if (!Array.isArray(answer)) throw unexpected('list')
  const [newest] = objectsOf(answer)
    .filter((vetting) => vetting['vettingClass'] === vettingClass)
    .sort((a, b) => timeOf(b['createDate']) - timeOf(a['createDate']))
  if (newest === undefined) return null
  return stringOf(newest['vettedDate']) === '' ? 'pending' : 'completed'
}

/** A vetting without a date counts as the oldest. */
const timeOf = (date: unknown) => Date.parse(stringOf(date)) || 0

function campaignIn(answer: unknown): RegisteredCampaign {
  const row = isObject(answer) ? answer : {}
  const id = idIn(row, 'campaignId')
  const status = row['campaignStatus'] ?? (row['submissionStatus'] === 'FAILED' ? 'TCR_FAILED' : 'TCR_PENDING')
  if (typeof status !== 'string' || !/^[A-Z_]{1,64}$/.test(status)) throw unexpected('known status')
  return { id, status, reviewErrors: failureReasonsIn(row) }
}

/** The page size for the carrier's campaign list. Our brands have fewer campaigns. */
const campaignsOfPage = 500

async function findByReference(http: Link, brandId: string, reference: string): Promise<RegisteredCampaign | null> {
  const query = `brandId=${encodeURIComponent(brandId)}&recordsPerPage=${campaignsOfPage}`
  const answer = await requestValue(http, 'GET', `/10dlc/campaign?${query}`)
  const row = objectsOf(isObject(answer) ? answer['records'] : []).find(({ referenceId }) => referenceId === reference)
  if (row === undefined) return null
  // The list's items lack some statuses, so the campaign itself is requested.
  return campaignIn(await requestValue(http, 'GET', `/10dlc/campaign/${encodeURIComponent(idIn(row, 'campaignId'))}`))
}

/**
 * Assigns a number to a campaign. If the number already belongs to a campaign, it is moved with PUT, because the
 * carrier refuses a second assignment.
 */
async function assign(http: Link, e164: string, campaignId: string): Promise<NumberAssignment> {
  const existing = await assignmentOf(http, 'GET', e164, null)
  if (existing?.campaignId === campaignId && underWay.includes(existing.status)) return existing
  const body = { phoneNumber: e164, campaignId }
  const answer =
    existing === null
      ? await requestValue(http, 'POST', numbersPath, body)
      : await requestValue(http, 'PUT', numberPath(e164), body)
  return assignmentIn(answer, 'PENDING_ASSIGNMENT')
}

const underWay: readonly AssignmentStatus[] = ['ASSIGNED', 'PENDING_ASSIGNMENT']

/** Returns the number's assignment; null if the number belongs to no campaign. */
async function assignmentOf(
  http: Link,
  method: 'GET' | 'DELETE',
  e164: string,
  usual: AssignmentStatus | null,
): Promise<NumberAssignment | null> {
  const answer = await ask(http, method, numberPath(e164))
  if (answer.status === 404) return null
  if (isSuccess(answer.status)) return assignmentIn(answer.value, usual)
  throw refusalIn(answer)
}

/** Reads an assignment. `usual` is the status if the response contains no status. */
function assignmentIn(answer: unknown, usual: AssignmentStatus | null): NumberAssignment {
  const row = isObject(answer) ? answer : {}
  const campaignId = idIn(row, 'campaignId')
  const status = assignmentStatuses.find((each) => each === (row['assignmentStatus'] ?? usual))
  if (status === undefined) throw unexpected('known status')
  return { campaignId, status, reviewErrors: failureReasonsIn(row) }
}

const assignmentStatuses: readonly AssignmentStatus[] = [
  'PENDING_ASSIGNMENT',
  'ASSIGNED',
  'FAILED_ASSIGNMENT',
  'PENDING_UNASSIGNMENT',
  'FAILED_UNASSIGNMENT',
]

/** The length of an id is limited, because ids are stored and used in URLs. */
const idCharactersMax = 64

function idIn(row: JsonObject, name: string): string {
  const id = row[name]
  if (typeof id === 'string' && id !== '' && id.length <= idCharactersMax) return id
  throw unexpected(name)
}
