/** The interfaces that calls by phone are made of. The code that starts them hands them in. */
import type { PhoneLine } from '../ports/phone-line.ts'
import type { Caller, Tenant } from './organization.ts'

/** The part of a phone number of an organization that its calls need. */
export type CallableNumber = Tenant & {
  id: string
  e164: string
  source: 'managed' | 'sip_trunk'
  /** `sip_…`: the connection of a number of a trunk, else null. */
  connectionId: string | null
  direction: 'inbound' | 'outbound' | 'both'
  agentId: string | null
  /** Settings and metadata of inbound calls, with placeholders. */
  dispatchMetadataTemplate: Readonly<Record<string, unknown>> | null
}

export interface CallableNumbers {
  /**
   * The number that was dialled. Test numbers are called over the simulator only, and several organizations may have one: it is that
   * of `organizationId`, or of the organization that has had it longest where this is null.
   */
  findInbound(
    e164: string,
    of: { line: 'simulator' | 'carrier'; organizationId: string | null },
  ): Promise<CallableNumber | null>
  /** The live numbers of a SIP connection that end with these digits. */
  ofConnection(connectionId: string, lastDigits: string): Promise<readonly CallableNumber[]>
  /**
   * Chooses the number to call from: the named one, else the oldest of the agent that may call, else the oldest of the
   * organization. `none`: it has no number that may call. `not_own`: another's, or nobody's. `not_ready`: it cannot call now.
   */
  outboundFor(
    tenant: Tenant,
    agentId: string | null,
    from: string | null,
    hasLine: HasLine,
  ): Promise<CallableNumber | 'none' | 'not_own' | 'not_ready'>
  /** The number with this id, where it may call now. */
  outboundNamed(tenant: Tenant, id: string, hasLine: HasLine): Promise<CallableNumber | null>
  /** Whether calls to the number are answered now. */
  isInboundReady(number: CallableNumber): Promise<boolean>
}

/** Whether this server has a line for the number: one without a port for SIP has none for those of trunks. */
export type HasLine = (number: CallableNumber) => boolean

export interface PhoneLines {
  /** Null: numbers of this source cannot call from here. */
  of(number: Pick<CallableNumber, 'test' | 'source'>): PhoneLine | null
  named(line: PhoneLine['name']): PhoneLine | null
}

export interface CallersOfNumbers {
  /** Acts for the organization in the calls to its number, which have no API key. Null: the organization is gone. */
  find(tenant: Tenant, phoneNumberId: string): Promise<Caller | null>
}
