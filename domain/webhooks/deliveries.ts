/** The log of deliveries, and deliveries once more on request. */
import type { Tenant } from '../access/organization.ts'
import { ResourceFault } from '../resource-fault.ts'
import { type AttemptDeps, post } from './attempt.ts'
import type { Attempt } from './delivery.ts'
import type { DeliveryFilter, DeliveryPage, DeliveryPosition, DeliveryStore, WholeDelivery } from './delivery-store.ts'
import type { DeliveryTargets } from './endpoint.ts'
import { canAttempt, cancelledEnd, endOf, givenBackEnd } from './outcome.ts'
import type { DeliveryQueue } from './queue.ts'

export type DeliveriesDeps = AttemptDeps & {
  store: DeliveryStore
  queue: DeliveryQueue
  targets: DeliveryTargets
  /** Redeliveries of an organization that are under way at once. */
  requestedMax: number
}

/** Methods on one delivery throw ResourceFault `not_found`. */
export class Deliveries {
  readonly #deps: DeliveriesDeps
  /** Redeliveries that are under way, by organization. */
  readonly #requested = new Map<string, number>()

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps
  }

  list(tenant: Tenant, filter: DeliveryFilter, limit: number, after: DeliveryPosition | null): Promise<DeliveryPage> {
    return this.#deps.store.list(tenant, filter, limit, after)
  }

  async get(tenant: Tenant, id: string): Promise<WholeDelivery> {
    return found(await this.#deps.store.find(tenant, id))
  }

  /**
   * Makes one attempt now. A success ends the delivery, and a failure leaves its schedule as it is. Throws ResourceFault
   * `redelivery_unavailable`.
   */
  async redeliver(tenant: Tenant, id: string): Promise<Attempt> {
    const { organizationId } = tenant
    const { requestedMax } = this.#deps
    const underWay = this.#requested.get(organizationId) ?? 0
    if (underWay >= requestedMax) throw new ResourceFault({ kind: 'redelivery_unavailable', requestedMax })
    this.#requested.set(organizationId, underWay + 1)
    try {
      return await this.#redeliver(tenant, id)
    } finally {
      const left = (this.#requested.get(organizationId) ?? 1) - 1
      if (left === 0) this.#requested.delete(organizationId)
      else this.#requested.set(organizationId, left)
    }
  }

  async #redeliver(tenant: Tenant, id: string): Promise<Attempt> {
    const { store, queue, targets, clock } = this.#deps
    const claimed = await store.claimForRedelivery(tenant, id)
    if (claimed === 'unknown') throw new ResourceFault({ kind: 'not_found' })
    if (claimed === 'refused') throw new ResourceFault({ kind: 'redelivery_unavailable' })
    const target = await targets.deliveryTarget(tenant, claimed.endpointId)
    if (target === null || target.isDisabled) {
      await queue.complete([cancelledEnd(claimed, target === null ? 'deleted' : 'disabled')])
      throw new ResourceFault({ kind: 'redelivery_unavailable' })
    }
    if (!canAttempt(claimed, target.timeoutMs, clock.nowMs())) {
      await queue.complete([givenBackEnd(claimed)])
      throw new ResourceFault({ kind: 'redelivery_unavailable' })
    }
    const event = { id: claimed.eventId, body: claimed.body, lane: claimed.endpointId }
    const { attempt } = await post(this.#deps, target, event, 'manual')
    await queue.complete([endOf(claimed, attempt, null, { nowMs: clock.nowMs(), random: 0 })])
    return attempt
  }
}

function found<T>(value: T | null): T {
  if (value === null) throw new ResourceFault({ kind: 'not_found' })
  return value
}
