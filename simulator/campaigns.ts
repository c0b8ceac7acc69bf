/**
 * Simulates campaigns and the numbers assigned to campaigns. A campaign describes the text messages from a registered
 * business. `[reject]` or `[expire]` in the description decides a campaign's outcome after 60 s. The campaign's id
 * contains the outcome. A number's last two digits decide its assignment's outcome. Assignments exist only in this
 * process's memory.
 *
 *   …96 cannot be assigned   …95 cannot be unassigned   …94 is refused at once
 *
 * One number belongs to a campaign without an assignment: a new installation's first rich-message number.
 */
import { forgetOldest } from './bounded-memory.ts'
import type { Brands } from './brands.ts'
import { type Fields, text } from './fields.ts'
import type { SimulatorClock } from './media/clock.ts'
import { BareRefusal, invalid, notFound } from './refusal.ts'
import { checkedFields, type FieldRule } from './registry-fields.ts'
import { entryOf, newEntry, type RegistryEntry } from './registry-ids.ts'

const outcomes = ['provisioned', 'rejected', 'expired'] as const
type Outcome = (typeof outcomes)[number]
type Campaign = RegistryEntry<Outcome> & { fields: Fields }

const reviewMs = 60_000
const assignmentMs = 2000
/**
 * Only the newest campaigns are remembered, because their texts are long. A forgotten campaign keeps its status,
 * because the status is in its id.
 */
const campaignsMax = 1000
const american = /^\+1[2-9]\d{9}$/

const assignedNumber = '+15005550200'
/**
 * The campaign with this preassigned number. By its id, the campaign is provisioned and was created at time 0 (1970).
 */
const oldestCampaign = '00000000-0000-8002-8000-000000000000'

type Assignment = { number: string; campaignId: string; createdAtMs: number; sinceMs: number; isLeaving: boolean }

export class Campaigns {
  readonly #clock: Pick<SimulatorClock, 'nowMs'>
  readonly #brands: Pick<Brands, 'isVerified'>
  /** The campaigns by id, the oldest first. */
  readonly #campaigns = new Map<string, Campaign>()
  /** The assignments by number, the oldest first. */
  readonly #assignments = new Map<string, Assignment>()

  constructor(clock: Pick<SimulatorClock, 'nowMs'>, brands: Pick<Brands, 'isVerified'>) {
    this.#clock = clock
    this.#brands = brands
    this.#assignments.set(assignedNumber, {
      number: assignedNumber,
      campaignId: oldestCampaign,
      ...{ createdAtMs: 0, sinceMs: 0, isLeaving: false },
    })
  }

  /** Handles POST /10dlc/campaignBuilder. */
  create(body: Fields): object {
    const fields = checkedFields(body, campaignRules)
    const isVerified = this.#brands.isVerified(String(fields['brandId']))
    if (isVerified === null) throw refused('The brand does not exist.')
    if (!isVerified) throw refused('The identity of the brand is not verified.')
    if (fields['termsAndConditions'] !== true) throw refused('The terms and conditions must be accepted.')
    const { referenceId } = fields
    if (
      referenceId !== undefined &&
      [...this.#campaigns.values()].some(({ fields }) => fields['referenceId'] === referenceId)
    )
      throw refused('Another campaign has this referenceId.')
    const outcome = outcomeOf(String(fields['description']))
    const campaign = { ...newEntry('campaign', outcomes, outcome, this.#clock.nowMs()), fields }
    this.#campaigns.set(campaign.id, campaign)
    forgetOldest(this.#campaigns, campaignsMax)
    return this.#written(campaign)
  }

  /** Handles GET /10dlc/campaign. Lists only this process's campaigns, on one page. */
  list(query: URLSearchParams): object {
    const brandId = query.get('brandId')
    if (brandId === null) throw invalid('brandId')
    const all = [...this.#campaigns.values()].filter(({ fields }) => fields['brandId'] === brandId)
    return { records: all.map((campaign) => this.#written(campaign)), page: 1, totalRecords: all.length }
  }

  /** Handles GET /10dlc/campaign/{campaignId}. */
  retrieve(id: string): object {
    const campaign = this.#find(id)
    if (!campaign) throw notFound()
    return this.#written(campaign)
  }

  /** Handles POST /10dlc/phone_number_campaigns. */
  assign(body: Fields): object {
    const number = text(body, 'phoneNumber')
    const assignment = this.#assignment(number)
    if (assignment && this.#statusOf(assignment) !== 'FAILED_ASSIGNMENT')
      throw invalid('phoneNumber', 'The number belongs to a campaign already.')
    return this.#assign(number, text(body, 'campaignId'))
  }

  /** Handles PUT /10dlc/phone_number_campaigns/{phoneNumber}. */
  reassign(number: string, body: Fields): object {
    if (text(body, 'phoneNumber') !== number) throw invalid('phoneNumber', 'It is not the number of the address.')
    return this.#assign(number, text(body, 'campaignId'))
  }

  /** Handles GET /10dlc/phone_number_campaigns/{phoneNumber}. */
  retrieveAssignment(number: string): object {
    const assignment = this.#assignment(number)
    if (!assignment) throw notFound()
    return this.#assignmentWritten(assignment)
  }

  /** Handles DELETE /10dlc/phone_number_campaigns/{phoneNumber}. */
  unassign(number: string): object {
    const assignment = this.#assignment(number)
    if (!assignment) throw notFound()
    if (this.#statusOf(assignment) !== 'PENDING_UNASSIGNMENT')
      Object.assign(assignment, { isLeaving: true, sinceMs: this.#clock.nowMs() })
    return this.#assignmentWritten(assignment)
  }

  #find(id: string): Campaign | null {
    const entry = entryOf('campaign', outcomes, id)
    return this.#campaigns.get(id) ?? (entry && { ...entry, fields: forgottenFields })
  }

  #campaignStatusOf({ outcome, createdAtMs }: Campaign): string {
    return this.#clock.nowMs() - createdAtMs < reviewMs ? 'TCR_PENDING' : statuses[outcome]
  }

  #assign(number: string, campaignId: string): object {
    if (!american.test(number)) throw invalid('phoneNumber', 'It is not a number of the USA.')
    if (number.endsWith('94')) throw invalid('phoneNumber', 'The number cannot be in a campaign.')
    const campaign = this.#find(campaignId)
    if (!campaign || this.#campaignStatusOf(campaign) !== statuses.provisioned)
      throw invalid('campaignId', 'The campaign is not provisioned.')
    const nowMs = this.#clock.nowMs()
    const assignment = { number, campaignId, createdAtMs: nowMs, sinceMs: nowMs, isLeaving: false }
    this.#assignments.set(number, assignment)
    forgetOldest(this.#assignments)
    return this.#assignmentWritten(assignment)
  }

  /** Returns the number's assignment. If the number has left its campaign, the assignment is forgotten. */
  #assignment(number: string): Assignment | null {
    const assignment = this.#assignments.get(number)
    if (assignment && this.#statusOf(assignment) !== null) return assignment
    this.#assignments.delete(number)
    return null
  }

  /** Returns the assignment's status, or null if the number has left its campaign. */
  #statusOf({ number, sinceMs, isLeaving }: Assignment): string | null {
    const isPending = this.#clock.nowMs() - sinceMs < assignmentMs
    if (isLeaving && isPending) return 'PENDING_UNASSIGNMENT'
    if (isLeaving) return number.endsWith('95') ? 'FAILED_UNASSIGNMENT' : null
    if (isPending) return 'PENDING_ASSIGNMENT'
    return number.endsWith('96') ? 'FAILED_ASSIGNMENT' : 'ASSIGNED'
  }

  #written(campaign: Campaign): object {
    const { id, fields, createdAtMs } = campaign
    const campaignStatus = this.#campaignStatusOf(campaign)
    return {
      subUsecases: [],
      ...fields,
      campaignId: id,
      cspId: 'SIMULATOR',
      mock: false,
      status: campaignStatus === statuses.expired ? 'EXPIRED' : 'ACTIVE',
      submissionStatus: campaignStatus === statuses.rejected ? 'FAILED' : 'CREATED',
      campaignStatus,
      ...(campaignStatus === statuses.rejected && { failureReasons: rejectedText }),
      createDate: iso(createdAtMs),
    }
  }

  #assignmentWritten(assignment: Assignment): object {
    const { number, campaignId, createdAtMs, sinceMs } = assignment
    const assignmentStatus = this.#statusOf(assignment)
    return {
      phoneNumber: number,
      brandId: this.#find(campaignId)?.fields['brandId'] ?? '',
      campaignId,
      telnyxCampaignId: campaignId,
      assignmentStatus,
      ...(assignmentStatus?.startsWith('FAILED') && { failureReasons: 'The carriers refused the number.' }),
      createdAt: iso(createdAtMs),
      updatedAt: iso(sinceMs),
    }
  }
}

const statuses: Record<Outcome, string> = {
  provisioned: 'MNO_PROVISIONED',
  rejected: 'TCR_FAILED',
  expired: 'TCR_EXPIRED',
}
const rejectedText = 'The description does not say how the recipients agree to be written to.'

function outcomeOf(description: string): Outcome {
  if (description.includes('[reject]')) return 'rejected'
  return description.includes('[expire]') ? 'expired' : 'provisioned'
}

/** The required fields, for a campaign registered in another process. Its real fields are unknown here. */
const forgottenFields: Fields = { brandId: '', description: '', usecase: 'MIXED', termsAndConditions: true }

const required: FieldRule = { type: 'string', isRequired: true }
const optional: FieldRule = { type: 'string' }
const flag: FieldRule = { type: 'boolean' }
const ruled = (names: string, rule: FieldRule) => Object.fromEntries(names.split(' ').map((name) => [name, rule]))
const campaignRules: Readonly<Record<string, FieldRule>> = {
  ...ruled('brandId description usecase', required),
  ...ruled('messageFlow sample1 sample2 sample3 sample4 sample5 referenceId', optional),
  ...ruled('optinKeywords optinMessage helpKeywords helpMessage optoutKeywords optoutMessage', optional),
  ...ruled('subscriberOptin subscriberHelp subscriberOptout termsAndConditions', flag),
  ...ruled('embeddedLink embeddedPhone ageGated autoRenewal directLending numberPool', flag),
  subUsecases: { type: 'strings' },
}

const refused = (detail: string) => new BareRefusal(400, '10015', 'Bad Request', detail)
const iso = (ms: number) => new Date(ms).toISOString()
