/** An organization's stored phone number. */
import type { AssignmentStatus, ReviewError } from '../ports/sms-registry.ts'
import type { CallableNumber } from './callable-number.ts'
import type { Tenant } from './organization.ts'
import type { OwnedConnection } from './sip-connection.ts'

export type PhoneNumber = CallableNumber & {
  label: string | null
  /** The company behind the connection, as the organization calls it. */
  sipProviderName: string | null
  /** Null if the number belongs to the carrier. */
  connection: NumberConnection | null
  order: Order
  /** Null if the number is free: nothing was paid, and nothing will be. */
  price: NumberPrice | null
  nextChargeAtMs: number | null
  lastChargedAtMs: number | null
  /** When the first charge failed. */
  overdueSinceMs: number | null
  suspendedAtMs: number | null
  /** True if the carrier sold the number for text messages. */
  takesSms: boolean
  /** Null if the number belongs to no text-message campaign. */
  smsAssignment: SmsAssignment | null
  /** The carrier's reasons for refusing to change the number's campaign. */
  smsReviewErrors: readonly ReviewError[]
  /** Null if no call has come to the number yet. */
  firstCalledAtMs: number | null
  createdAtMs: number
  updatedAtMs: number
}

/** A number's campaign belongs to the organization, or is the operator's shared campaign. */
type SmsAssignment = {
  campaignId: string
  assignedTo: 'own' | 'shared'
  status: AssignmentStatus
  updatedAtMs: number
}

/** A SIP connection's part that decides about its numbers' abilities. */
type NumberConnection = Pick<OwnedConnection, 'status'> & { takesCalls: boolean; placesCalls: boolean }

/** The order at the carrier. `resourceId` is the carrier's id for a number. */
export type Order = { status: 'pending' | 'done' | 'failed'; id: string | null; resourceId: string | null }

export type NumberPrice = { upfrontMicroUsd: number; monthlyMicroUsd: number }

/** If a field is left out, it stays. null removes the value. */
export type NumberChange = {
  direction?: PhoneNumber['direction']
  agentId?: string | null
  label?: string | null
  dispatchMetadataTemplate?: Readonly<Record<string, unknown>> | null
}

/** Only an imported number has a connection. */
export type OwnedNumberChange = NumberChange & { sipConnectionInstallationId?: string; sipProviderName?: string | null }

/** A tenant may have at most this many numbers, because their list has no pages. Part of the contract. */
export const numbersMax = 1_000

/** Every method reads and writes one tenant's rows. An id in another form counts as unknown. */
export interface PhoneNumberStore {
  /** Oldest first. */
  list(tenant: Tenant, limit: number): Promise<PhoneNumber[]>
  find(tenant: Tenant, id: string): Promise<PhoneNumber | null>
  /**
   * The number is locked between its reading and its writing. Null if there is no such number. `agent_unknown` and
   * `connection_unknown`: the change names an agent or a connection the tenant does not have. `exists`: the new
   * connection has the number already. If `change` throws, the number stays as it was.
   */
  change(
    tenant: Tenant,
    id: string,
    change: (number: PhoneNumber) => PhoneNumber,
  ): Promise<PhoneNumber | 'agent_unknown' | 'connection_unknown' | 'exists' | null>
  /** `exists`: the connection has the number already. `limit_reached`: the tenant has `numbersMax` numbers. */
  import(
    number: PhoneNumber,
    numbersMax: number,
  ): Promise<PhoneNumber | 'agent_unknown' | 'connection_unknown' | 'limit_reached' | 'exists'>
  /** Meanwhile no other request in any process can give the number back. */
  inTurn<Outcome>(tenant: Tenant, id: string, giveBack: () => Promise<Outcome>): Promise<Outcome>
  /** False if another request has removed the number. */
  remove(tenant: Tenant, id: string): Promise<boolean>
}
