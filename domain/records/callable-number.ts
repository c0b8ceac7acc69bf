/**
 * Interfaces for the numbers and lines used in phone calls. The composition in `app/` passes in the implementations.
 */
import type { PhoneLine } from '../ports/phone-line.ts'
import type { Caller, Tenant } from './organization.ts'

/** An organization's phone number, with the fields needed for calls. */
export type CallableNumber = Tenant & {
  id: string
  e164: string
  source: 'managed' | 'sip_trunk'
  /** `sip_…`, the SIP connection if the number belongs to a trunk. Otherwise null. */
  connectionId: string | null
  direction: 'inbound' | 'outbound' | 'both'
  agentId: string | null
  /** Settings and metadata for inbound calls. They contain placeholders. */
  dispatchMetadataTemplate: Readonly<Record<string, unknown>> | null
}

export interface CallableNumbers {
  /**
   * Finds the dialled number. Only the simulator can call test numbers, and several organizations may have the same
   * test number. If `organizationId` is null, the organization with the oldest such number gets the call.
   */
  findInbound(
    e164: string,
    of: { line: 'simulator' | 'carrier'; organizationId: string | null },
  ): Promise<CallableNumber | null>
  /** Finds a SIP connection's live numbers with these last digits. */
  ofConnection(connectionId: string, lastDigits: string): Promise<readonly CallableNumber[]>
  /**
   * Chooses the number to call from: the number `from`, else the agent's oldest number for outbound calls, else the
   * organization's oldest number. `none`: the tenant has no number for outbound calls. `not_own`: `from` is not the
   * tenant's number. `not_ready`: the number cannot call now.
   */
  outboundFor(
    tenant: Tenant,
    agentId: string | null,
    from: string | null,
    hasLine: HasLine,
  ): Promise<CallableNumber | 'none' | 'not_own' | 'not_ready'>
  /** Finds the number with this id. Resolves with null if it may not call now. */
  outboundNamed(tenant: Tenant, id: string, hasLine: HasLine): Promise<CallableNumber | null>
  /** Resolves with true if calls to the number are answered now. */
  isInboundReady(number: CallableNumber): Promise<boolean>
}

/**
 * Returns true if this server has a phone line (carrier, simulator or trunk) for the number. Without a SIP port it has
 * no phone line for trunk numbers.
 */
export type HasLine = (number: CallableNumber) => boolean

export interface PhoneLines {
  /** Returns the phone line for the number, or null if this server has no phone line for such a number. */
  of(number: Pick<CallableNumber, 'test' | 'source'>): PhoneLine | null
  named(line: PhoneLine['name']): PhoneLine | null
}

export interface CallersOfNumbers {
  /**
   * Finds the organization that inbound calls to this number belong to. It is returned as a `Caller`, because an
   * inbound call has no API key. Resolves with null if the organization is deleted.
   */
  find(tenant: Tenant, phoneNumberId: string): Promise<Caller | null>
}
