/** An organization's stored phone number. */
import type { AssignmentStatus, ReviewError } from '../ports/sms-registry.ts'
import type { CallableNumber } from './callable-number.ts'
import type { Tenant } from './organization.ts'
import type { OwnedConnection } from './sip-connection.ts'

export type PhoneNumber = CallableNumber & {
  label: string | null
  /** The organization's name for the company behind the connection. */
  sipProviderName: string | null
  /** Null if the number belongs to the carrier. */
  connection: NumberConnection | null
  order: Order
  /** True until the operator approves the import. Until then the number neither receives nor places calls. */
  awaitsApproval: boolean
  /** True if another organization has the number too. Only the administration of numbers reads this field. */
  isAlsoImported: boolean
  /** Null if the number costs nothing. */
  price: NumberPrice | null
  nextChargeAtMs: number | null
  lastChargedAtMs: number | null
  /** The time when the first unpaid charge failed. */
  overdueSinceMs: number | null
  suspendedAtMs: number | null
  /** True if the number was sold with support for text messages. */
  takesSms: boolean
  /** Null if the number belongs to no text-message campaign. */
  smsAssignment: SmsAssignment | null
  /** The carrier's reasons if it refused to change the number's campaign. */
  smsReviewErrors: readonly ReviewError[]
  /** The time of the first call to the number. Null if there was no call yet. */
  firstCalledAtMs: number | null
  createdAtMs: number
  updatedAtMs: number
}

/**
 * A number's registration in a text-message campaign. The campaign is the organization's own campaign (`own`), or the
 * operator's shared campaign.
 */
type SmsAssignment = {
  campaignId: string
  assignedTo: 'own' | 'shared'
  status: AssignmentStatus
  updatedAtMs: number
}

/** The fields of a SIP connection that decide if its numbers can place and receive calls. */
type NumberConnection = Pick<OwnedConnection, 'status'> & { takesCalls: boolean; placesCalls: boolean }

/** The number's order at the carrier. `resourceId` is the carrier's id for the number. */
export type Order = { status: 'pending' | 'done' | 'failed'; id: string | null; resourceId: string | null }

export type NumberPrice = { upfrontMicroUsd: number; monthlyMicroUsd: number }

/** An absent field stays unchanged. Null removes a field's value. */
export type NumberChange = {
  direction?: PhoneNumber['direction']
  agentId?: string | null
  label?: string | null
  dispatchMetadataTemplate?: Readonly<Record<string, unknown>> | null
}

/** A change with fields for imported numbers, because only an imported number has a connection. */
export type OwnedNumberChange = NumberChange & { sipConnectionInstallationId?: string; sipProviderName?: string | null }

/**
 * The maximum number of phone numbers per tenant, because the API lists them without pagination. Fixed in the contract.
 */
export const numbersMax = 1_000

/** Every method reads and writes one tenant's rows. A malformed id is treated as unknown. */
export interface PhoneNumberStore {
  /** Lists the phone numbers, oldest first. */
  list(tenant: Tenant, limit: number): Promise<PhoneNumber[]>
  find(tenant: Tenant, id: string): Promise<PhoneNumber | null>
  /**
   * Reads the number, calls `change` and writes the result, while the number's row is locked. Resolves with null if
   * there is no such number. `agent_unknown` and `connection_unknown`: the tenant lacks the agent or the connection in
   * the change. `exists`: the new connection has the number already. If `change` throws, the number is not changed.
   */
  change(
    tenant: Tenant,
    id: string,
    change: (number: PhoneNumber) => PhoneNumber,
  ): Promise<PhoneNumber | 'agent_unknown' | 'connection_unknown' | 'exists' | null>
  /**
   * Stores an imported number. `exists`: the connection has the number already. `limit_reached`: the tenant has
   * `numbersMax` numbers.
   */
  import(
    number: PhoneNumber,
    numbersMax: number,
  ): Promise<PhoneNumber | 'agent_unknown' | 'connection_unknown' | 'limit_reached' | 'exists'>
  /** Runs `giveBack`, which releases the number, while no other request in any process can release it. */
  inTurn<Outcome>(tenant: Tenant, id: string, giveBack: () => Promise<Outcome>): Promise<Outcome>
  /** Removes the number. Resolves with false if another request has removed it. */
  remove(tenant: Tenant, id: string): Promise<boolean>
}
