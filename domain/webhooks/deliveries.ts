/** Reads the delivery log, and repeats deliveries on request: one delivery, or an endpoint's failed deliveries. */

import { afterSending } from '../records/fault.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault, requireResource } from '../records/resource-fault.ts'
import type { Attempt } from '../records/webhook-delivery.ts'
import type { DeliveryTargets } from '../records/webhook-endpoint.ts'
import { UnderWay } from '../streams/under-way.ts'
import { type AttemptDeps, post } from './attempt.ts'
import type {
  DeliveryFilter,
  DeliveryPage,
  DeliveryPosition,
  DeliveryRange,
  DeliveryStore,
  WholeDelivery,
} from './delivery-store.ts'
import { canAttempt, cancelledEnd, endOf, givenBackEnd } from './outcome.ts'
import type { DeliveryMetrics, DeliveryQueue } from './queue.ts'
import { recoverDeliveries } from './recovery.ts'

export type DeliveriesDeps = AttemptDeps & {
  store: DeliveryStore
  queue: DeliveryQueue
  targets: DeliveryTargets
  metrics: DeliveryMetrics
  /** The maximum number of concurrent redeliveries and recoveries for one organization. */
  requestedMax: number
}

/** Methods for one delivery or one endpoint throw ResourceFault `not_found` if the tenant does not have it. */
export class Deliveries {
  readonly #deps: DeliveriesDeps
  /** Counts running redeliveries and recoveries by organization. */
  readonly #requested = new UnderWay()

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps
  }

  list(tenant: Tenant, filter: DeliveryFilter, limit: number, after: DeliveryPosition | null): Promise<DeliveryPage> {
    return this.#deps.store.list(tenant, filter, limit, after)
  }

  async get(tenant: Tenant, id: string): Promise<WholeDelivery> {
    return requireResource(await this.#deps.store.find(tenant, id))
  }

  /**
   * Makes one attempt now. A success ends the delivery. A failure does not change the delivery's schedule. Throws
   * ResourceFault `redelivery_unavailable`.
   */
  redeliver(tenant: Tenant, id: string): Promise<Attempt> {
    return this.#request(tenant, () => this.#redeliver(tenant, id))
  }

  /**
   * Makes an endpoint's failed deliveries due again, and returns their number. Throws ResourceFault `invalid` and
   * `redelivery_unavailable`.
   */
  recover(tenant: Tenant, range: DeliveryRange): Promise<number> {
    const { store, clock } = this.#deps
    return this.#request(tenant, () => recoverDeliveries({ store, nowMs: clock.nowMs() }, tenant, range))
  }

  async #request<Answer>({ organizationId }: Tenant, run: () => Promise<Answer>): Promise<Answer> {
    const { requestedMax } = this.#deps
    if (this.#requested.of(organizationId) >= requestedMax)
      throw new ResourceFault({ kind: 'redelivery_unavailable', requestedMax })
    const end = this.#requested.begin(organizationId)
    try {
      return await run()
    } finally {
      end()
    }
  }

  async #redeliver(tenant: Tenant, id: string): Promise<Attempt> {
    const { store, queue, targets, clock, metrics } = this.#deps
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
    const event = { ...claimed, id: claimed.eventId, lane: claimed.endpointId }
    const { attempt } = await post(this.#deps, target, event, 'manual')
    metrics.webhookAttempt(attempt.error ?? 'success', attempt.durationMs)
    const end = endOf(claimed, attempt, null, { nowMs: clock.nowMs(), random: 0 })
    await afterSending(queue.complete([end]))
    return attempt
  }
}
