/** A phone number of an organization, as it is stored. */
import type { AssignmentStatus, ReviewError } from '../ports/sms-registry.ts'
import type { CallableNumber } from './callable-number.ts'
import type { Tenant } from './organization.ts'
import type { OwnedConnection } from './sip-connection.ts'

export type PhoneNumber = CallableNumber & {
  label: string | null
  /** The company behind the connection, as the organization calls it. */
  sipProviderName: string | null
  /** Null: the number is of the carrier. */
  connection: NumberConnection | null
  order: Order
  /** Null: nothing was paid, and nothing will be. */
  price: NumberPrice | null
  nextChargeAtMs: number | null
  lastChargedAtMs: number | null
  /** Since the first charge that could not be paid. */
  overdueSinceMs: number | null
  suspendedAtMs: number | null
  /** Whether the carrier sold it for text messages. */
  takesSms: boolean
  /** Null: the number belongs to no campaign of text messages. */
  smsAssignment: SmsAssignment | null
  /** Why the carrier has refused to change the campaign of the number. */
  smsReviewErrors: readonly ReviewError[]
  /** Null: no call has come to the number yet. */
  firstCalledAtMs: number | null
  createdAtMs: number
  updatedAtMs: number
}

/** The campaign of a number is one of the organization or the shared one of the operator. */
type SmsAssignment = {
  campaignId: string
  assignedTo: 'own' | 'shared'
  status: AssignmentStatus
  updatedAtMs: number
}

/** The part of the SIP connection of a number that decides what the number can do. */
type NumberConnection = Pick<OwnedConnection, 'status'> & { takesCalls: boolean; placesCalls: boolean }

/** The order at the carrier. `resourceId` is the id of a number there. */
export type Order = { status: 'pending' | 'done' | 'failed'; id: string | null; resourceId: string | null }

export type NumberPrice = { upfrontMicroUsd: number; monthlyMicroUsd: number }

/** A field that is left out stays, and null removes the value. */
export type NumberChange = {
  direction?: PhoneNumber['direction']
  agentId?: string | null
  label?: string | null
  dispatchMetadataTemplate?: Readonly<Record<string, unknown>> | null
}

/** Only an imported number has a connection. */
export type OwnedNumberChange = NumberChange & { sipConnectionInstallationId?: string; sipProviderName?: string | null }

/** A tenant has no more numbers than this, because a list of them has no pages. Part of the contract. */
export const numbersMax = 1_000

/** Every call reads and writes rows of this tenant alone. An id of another form is an unknown one. */
export interface PhoneNumberStore {
  /** Oldest first. */
  list(tenant: Tenant, limit: number): Promise<PhoneNumber[]>
  find(tenant: Tenant, id: string): Promise<PhoneNumber | null>
  /**
   * Nobody else changes the number between its reading and its writing. Null: there is no such number. `agent_unknown`: it
   * would name an agent that the tenant does not have, `connection_unknown` a connection. `exists`: the connection that it
   * would move to has the number already. If `change` throws, the number stays as it was.
   */
  change(
    tenant: Tenant,
    id: string,
    change: (number: PhoneNumber) => PhoneNumber,
  ): Promise<PhoneNumber | 'agent_unknown' | 'connection_unknown' | 'exists' | null>
  /** `exists`: the connection has the number already. `limit_reached`: the tenant has `numbersMax`. */
  import(
    number: PhoneNumber,
    numbersMax: number,
  ): Promise<PhoneNumber | 'agent_unknown' | 'connection_unknown' | 'limit_reached' | 'exists'>
  /** No other request gives the number back meanwhile, in any process. */
  inTurn<Outcome>(tenant: Tenant, id: string, giveBack: () => Promise<Outcome>): Promise<Outcome>
  /** False: another request has removed it. */
  remove(tenant: Tenant, id: string): Promise<boolean>
}
