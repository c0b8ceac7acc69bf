/**
 * Sends the due deliveries. Several processes share them, each with a dispatcher:
 *
 *   notification, poll ──► ready endpoints ──► claim (a lease) ──► POST ──► store the end, many at once
 *                               ▲                                  │
 *                               └──────── the endpoint has room ◄──┘
 *
 * A lost notification only delays deliveries, because the poll finds them. If a process dies, its leases run out and
 * the deliveries are attempted again with the same webhook-id.
 */
import type { Log } from '../ports/system.ts'
import type { ClaimedDelivery } from '../records/webhook-delivery.ts'
import type { DeliveryTarget, DeliveryTargets } from '../records/webhook-endpoint.ts'
import { type AttemptDeps, post } from './attempt.ts'
import { InFlight, type InFlightLimits } from './in-flight.ts'
import { canAttempt, cancelledEnd, endOf, givenBackEnd } from './outcome.ts'
import type { DeliveryEnd, DeliveryMetrics, DeliveryQueue, DueEndpoint } from './queue.ts'

export type DispatcherDeps = AttemptDeps & {
  queue: DeliveryQueue
  targets: DeliveryTargets
  log: Log
  metrics: DeliveryMetrics
  /** Returns a number between 0 and 1. */
  random: () => number
  limits: InFlightLimits
}

/**
 * Waits this long before a claim, to claim several deliveries at once, and before a write, to store several results at
 * once.
 */
const gatherMs = 10
/** The maximum number of attempt results in one write. */
const endsMax = 256
/** If the results cannot be stored, the write is repeated after this pause until their leases have expired. */
const storeAgainMs = 250
/** No more deliveries are claimed while this many body bytes are in memory. The last body may exceed the limit. */
const bytesMax = 64 * 1024 * 1024

export class Dispatcher {
  readonly #deps: DispatcherDeps
  readonly #inFlight: InFlight
  /** Counts claimed deliveries until their results are stored. */
  #claimed = 0
  #claimedBytes = 0
  #isClaiming = false
  #isPlanned = false
  #isStopped = false
  #isAbandoned = false
  #ends: DeliveryEnd[] = []
  #isStoring = false
  readonly #idle: (() => void)[] = []

  constructor(deps: DispatcherDeps) {
    this.#deps = deps
    this.#inFlight = new InFlight(deps.limits)
  }

  /** Called when deliveries to these endpoints are due. */
  wake(endpoints: readonly DueEndpoint[]): void {
    for (const endpoint of endpoints) this.#inFlight.ready(endpoint)
    void this.#claim()
  }

  /** Looks for due deliveries, also if their notification was lost. */
  async poll(): Promise<void> {
    this.wake(await this.#deps.queue.due())
  }

  /**
   * Stops claiming, and waits at most `waitMs` for running attempts. If an attempt takes longer, its result is dropped
   * and its lease runs out: this process aborted the attempt, so it is not the endpoint's failure.
   */
  async stop(waitMs: number): Promise<void> {
    this.#isStopped = true
    if (this.#claimed === 0 && !this.#isClaiming) return
    await new Promise<void>((resolve) => {
      const cancel = this.#deps.clock.after(waitMs, resolve)
      this.#idle.push(() => {
        cancel()
        resolve()
      })
    })
    this.#isAbandoned = true
  }

  /** Claims deliveries. If this fails, the next poll finds them again. Never rejects. */
  async #claim(): Promise<void> {
    const bytesLeft = bytesMax - this.#claimedBytes
    if (this.#isClaiming || this.#isStopped || bytesLeft <= 0) return
    const claims = this.#inFlight.take(this.#claimed)
    if (claims.length === 0) return
    this.#isClaiming = true
    try {
      let bytes = 0
      const counts = new Map<string, number>()
      const targets = new Map<string, Promise<DeliveryTarget | null>>()
      for (const delivery of await this.#deps.queue.claim(claims, bytesLeft)) {
        const { endpointId } = delivery
        bytes += delivery.body.length
        counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1)
        const target = targets.get(endpointId) ?? this.#deps.targets.deliveryTarget(delivery, endpointId)
        targets.set(endpointId, target)
        void this.#deliver(delivery, target)
      }
      for (const { max, ...endpoint } of claims) {
        if (counts.get(endpoint.endpointId) === max || bytes >= bytesLeft) this.#inFlight.ready(endpoint)
      }
    } catch (err) {
      this.#deps.log.warn({ err }, 'deliveries of webhooks could not be claimed')
    } finally {
      this.#isClaiming = false
      this.#plan()
      this.#settle()
    }
  }

  #plan(): void {
    if (this.#isPlanned || this.#isStopped) return
    this.#isPlanned = true
    this.#deps.clock.after(gatherMs, () => {
      this.#isPlanned = false
      void this.#claim()
    })
  }

  /** Never rejects. */
  async #deliver(delivery: ClaimedDelivery, target: Promise<DeliveryTarget | null>): Promise<void> {
    this.#claimed++
    this.#claimedBytes += delivery.body.length
    this.#inFlight.begin(delivery)
    let attempt: { durationMs: number; isSilent: boolean } | undefined
    let isGone = false
    try {
      const end = await this.#attempt(delivery, await target)
      if (end.attempt !== null) {
        const { durationMs, error } = end.attempt
        this.#deps.metrics.webhookAttempt(error ?? 'success', durationMs)
        attempt = { durationMs, isSilent: error === 'timeout' || error === 'connect' }
      }
      if (this.#isAbandoned) return
      isGone = end.endpoint === 'gone'
      this.#ends.push(end)
      if (!this.#isStoring) void this.#store()
    } catch (err) {
      // The lease will expire, and then another claim tries the delivery again.
      const { id: deliveryId, callId } = delivery
      const trace = callId === null ? undefined : this.#deps.traces?.call(callId)
      const fields = { err, deliveryId, callId, ...trace?.logFields }
      this.#deps.log.error(fields, 'a webhook delivery could not be attempted')
      this.#release(delivery)
    }
    // If the endpoint answered 410 (gone), the attempt counts as in flight until its result is stored. So the endpoint
    // gets fewer further attempts before it is disabled.
    if (!isGone) this.#inFlight.end(delivery, attempt)
    this.#plan()
  }

  async #attempt(delivery: ClaimedDelivery, target: DeliveryTarget | null): Promise<DeliveryEnd> {
    const { clock, random } = this.#deps
    const { endpointId, eventId } = delivery
    if (target === null) return cancelledEnd(delivery, 'deleted')
    if (target.isDisabled) return cancelledEnd(delivery, 'disabled')
    if (!canAttempt(delivery, target.timeoutMs, clock.nowMs())) return givenBackEnd(delivery)
    const { attempt, retryAfterMs } = await post(
      this.#deps,
      target,
      { ...delivery, id: eventId, lane: endpointId },
      'automatic',
    )
    return endOf(delivery, attempt, retryAfterMs, { nowMs: clock.nowMs(), random: random() })
  }

  /** Stores the results of attempts, many in one statement, and one statement at a time. Never rejects. */
  async #store(): Promise<void> {
    this.#isStoring = true
    await this.#wait(gatherMs)
    while (this.#ends.length > 0) {
      const ends = this.#ends.splice(0, endsMax)
      if (await this.#stored(ends)) for (const end of ends) this.#releaseEnd(end)
      else {
        const nowMs = this.#deps.clock.nowMs()
        for (const end of ends) {
          if (end.delivery.claimedUntilMs > nowMs) this.#ends.push(end)
          else this.#releaseEnd(end)
        }
        await this.#wait(storeAgainMs)
      }
    }
    this.#isStoring = false
  }

  async #stored(ends: readonly DeliveryEnd[]): Promise<boolean> {
    const { queue, log } = this.#deps
    try {
      for (const disabled of await queue.complete(ends)) log.warn(disabled, 'a webhook endpoint was disabled')
      // A call's newer report may have waited until the delivery of an older report ended, so its endpoint is checked
      // again.
      for (const { delivery } of ends) if (delivery.type === 'call.report') this.#inFlight.ready(delivery)
      return true
    } catch (err) {
      log.warn({ err, deliveries: ends.length }, 'the ends of webhook deliveries could not be stored')
      return false
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#deps.clock.after(ms, resolve)
    })
  }

  #releaseEnd({ delivery, endpoint }: DeliveryEnd): void {
    if (endpoint === 'gone') this.#inFlight.end(delivery)
    this.#release(delivery)
  }

  #release({ body }: ClaimedDelivery): void {
    this.#claimed--
    this.#claimedBytes -= body.length
    this.#plan()
    this.#settle()
  }

  #settle(): void {
    if (!this.#isStopped || this.#claimed > 0 || this.#isClaiming) return
    for (const done of this.#idle.splice(0)) done()
  }
}
