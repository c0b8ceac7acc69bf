/** A phone number of an organization, as it is stored. */
import type { Tenant } from '../access/organization.ts'
import type { CallableNumber } from '../phone/ports.ts'

export type PhoneNumber = CallableNumber & {
  label: string | null
  suspendedAtMs: number | null
  createdAtMs: number
  updatedAtMs: number
}

/** A field that is left out stays, and null removes the value. */
export type NumberChange = {
  direction?: PhoneNumber['direction']
  agentId?: string | null
  label?: string | null
  dispatchMetadataTemplate?: Readonly<Record<string, unknown>> | null
}

/** Every call reads and writes rows of this tenant alone. An id of another form is an unknown one. */
export interface PhoneNumberStore {
  /** Oldest first. */
  list(tenant: Tenant, limit: number): Promise<PhoneNumber[]>
  find(tenant: Tenant, id: string): Promise<PhoneNumber | null>
  /**
   * Nobody else changes the number between its reading and its writing. Null: there is no such number. `agent_unknown`: it
   * would name an agent that the tenant does not have. If `change` throws, the number stays as it was.
   */
  change(
    tenant: Tenant,
    id: string,
    change: (number: PhoneNumber) => PhoneNumber,
  ): Promise<PhoneNumber | 'agent_unknown' | null>
}
