/** Interfaces for phone calls. The composition hands in their implementations. */
import type { PhoneLine } from '../ports/phone-line.ts'
import type { Caller, Tenant } from './organization.ts'

/** An organization's phone number, as far as its calls need it. */
export type CallableNumber = Tenant & {
  id: string
  e164: string
  source: 'managed' | 'sip_trunk'
  /** `sip_…`, the SIP connection if the number belongs to a trunk. Else null. */
  connectionId: string | null
  direction: 'inbound' | 'outbound' | 'both'
  agentId: string | null
  /** Settings and metadata for inbound calls, with placeholders. */
  dispatchMetadataTemplate: Readonly<Record<string, unknown>> | null
}

export interface CallableNumbers {
  /**
   * Finds the dialled number. Test numbers can be called only over the simulator, and several organizations may have
   * the same test number. If `organizationId` is null, the organization with the oldest such number gets the call.
   */
  findInbound(
    e164: string,
    of: { line: 'simulator' | 'carrier'; organizationId: string | null },
  ): Promise<CallableNumber | null>
  /** Finds a SIP connection's live numbers by their last digits. */
  ofConnection(connectionId: string, lastDigits: string): Promise<readonly CallableNumber[]>
  /**
   * Chooses the number to call from: the named number, else the agent's oldest number for outbound calls, else the
   * organization's oldest. `none`: no number may call. `not_own`: the named number is not the tenant's. `not_ready`: it
   * cannot call now.
   */
  outboundFor(
    tenant: Tenant,
    agentId: string | null,
    from: string | null,
    hasLine: HasLine,
  ): Promise<CallableNumber | 'none' | 'not_own' | 'not_ready'>
  /** The number with this id, if it may call now. */
  outboundNamed(tenant: Tenant, id: string, hasLine: HasLine): Promise<CallableNumber | null>
  /** True if calls to the number are answered now. */
  isInboundReady(number: CallableNumber): Promise<boolean>
}

/** True if this server has a line for the number. Without a SIP port it has no line for trunk numbers. */
export type HasLine = (number: CallableNumber) => boolean

export interface PhoneLines {
  /** Null if such a number cannot call from here. */
  of(number: Pick<CallableNumber, 'test' | 'source'>): PhoneLine | null
  named(line: PhoneLine['name']): PhoneLine | null
}

export interface CallersOfNumbers {
  /**
   * The caller to act for in calls to this number, because such a call has no API key. Null if the organization is
   * gone.
   */
  find(tenant: Tenant, phoneNumberId: string): Promise<Caller | null>
}
