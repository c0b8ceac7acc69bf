/** Checks a received request's signature for a client, so the client needs no secret. */
import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import { requireResource } from '../records/resource-fault.ts'
import type { DeliveryTargets } from '../records/webhook-endpoint.ts'
import type { EndpointStore } from '../records/webhook-endpoint-store.ts'
import type { DeliveryStore } from './delivery-store.ts'
import { webhookHeaders } from './signature.ts'

/** A received request. Missing headers are absent. */
export type SignedRequest = { id?: string; timestamp?: string; signature?: string; body: string }

export type Verdict = {
  valid: boolean
  /** `previous_secret`: the signature is by the previous secret alone, and this secret still signs too. */
  reason: 'missing_header' | 'no_match' | 'body_changed' | 'too_old' | 'previous_secret' | null
  /** The time since the signature, negative if it is in the future. Null if the timestamp is no number. */
  secondsOff: number | null
}

export type VerifySignature = (tenant: Tenant, endpointId: string, request: SignedRequest) => Promise<Verdict>

export type VerifySignatureDeps = {
  endpoints: Pick<EndpointStore, 'find'>
  targets: DeliveryTargets
  store: Pick<DeliveryStore, 'list' | 'find'>
  clock: Clock
}

/**
 * Receivers refuse requests whose timestamp differs by more than this from the present time (Standard Webhooks 1.0).
 */
const secondsOffMax = 300

/** The returned function throws ResourceFault `not_found` if the endpoint is unknown. */
export function createVerifySignature({ endpoints, targets, store, clock }: VerifySignatureDeps): VerifySignature {
  /** Returns the body as this server has sent it, or null. */
  async function sentBody(tenant: Tenant, endpointId: string, eventId: string): Promise<Uint8Array | null> {
    const { deliveries } = await store.list(tenant, { endpointId, eventId }, 1, null)
    const [delivery] = deliveries
    return delivery === undefined ? null : ((await store.find(tenant, delivery.id))?.body ?? null)
  }
  return async (tenant, endpointId, { id, timestamp, signature, body }) => {
    requireResource(await endpoints.find(tenant, endpointId))
    const { signingSecrets } = requireResource(await targets.deliveryTarget(tenant, endpointId))
    const seconds = /^[0-9]{1,12}$/.test(timestamp ?? '') ? Number(timestamp) : null
    const secondsOff = seconds === null ? null : Math.floor(clock.nowMs() / 1000) - seconds
    const refused = (reason: Verdict['reason']): Verdict => ({ valid: false, reason, secondsOff })
    if (id === undefined || timestamp === undefined || signature === undefined) return refused('missing_header')
    if (seconds === null || secondsOff === null) return refused('no_match')
    const signerOf = (bytes: string | Uint8Array) =>
      signingSecrets.findIndex((secret) => {
        const headers = webhookHeaders({ id, nowMs: seconds * 1000, body: bytes }, [secret])
        return signature.split(' ').some((each) => isEqual(each, headers['webhook-signature'] ?? ''))
      })
    const signer = signerOf(body)
    if (signer < 0) {
      const sent = await sentBody(tenant, endpointId, id)
      return refused(sent !== null && signerOf(sent) >= 0 ? 'body_changed' : 'no_match')
    }
    if (Math.abs(secondsOff) > secondsOffMax) return refused('too_old')
    return { valid: true, reason: signer === 0 ? null : 'previous_secret', secondsOff }
  }
}

function isEqual(sent: string, expected: string): boolean {
  const [a, b] = [Buffer.from(sent), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
