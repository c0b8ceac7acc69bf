/**
 * Manages subscriptions to an organization's rich-message events. An organization has one subscription per URL. The
 * admin organization may manage any organization's subscriptions.
 */
import type { Clock } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault, refuseIssues } from '../records/resource-fault.ts'
import { type SigningSecret, tagsMatch } from '../records/webhook-endpoint.ts'
import { replacedSecret } from '../webhooks/change-endpoint.ts'
import { type HostPolicy, urlProblem } from '../webhooks/target.ts'
import type { RmsgNumberStore } from './numbers.ts'

export type Tags = Readonly<Record<string, string>>

export type Subscription = Tenant & {
  id: string
  url: string
  /** An event's message must have all these tags. If there are no tags, the subscription gets every event. */
  tags: Tags
  signingSecretSource: 'organization' | 'custom'
  updatedAtMs: number
}

/** `signing` is null if the organization's secret signs the events. */
export type SubscriptionTarget = Pick<Subscription, 'id' | 'url' | 'tags'> & { signing: SigningSecret | null }

/** Every method reads and writes one tenant's rows. A malformed id is treated as unknown. */
export type SubscriptionStore = {
  /** Lists the subscriptions, newest first. */
  list(tenant: Tenant): Promise<Subscription[]>
  /** Lists the subscriptions with their secrets. */
  targets(tenant: Tenant): Promise<SubscriptionTarget[]>
  /**
   * Replaces the subscription with the same URL, or inserts a new subscription. `signing` receives the stored secret
   * and returns the new secret.
   */
  put(
    subscription: Omit<Subscription, 'signingSecretSource'>,
    signing: (stored: SigningSecret | null) => SigningSecret | null,
    subscriptionsMax: number,
  ): Promise<{ subscription: Subscription; isNew: boolean } | 'limit_reached'>
  /** Removes a subscription. Resolves with true if it existed. */
  remove(tenant: Tenant, id: string): Promise<boolean>
  removeAll(tenant: Tenant): Promise<void>
}

export type SubscriptionInput = { url: string; tags?: Tags | null; signingSecret?: string | null }

export type SubscriptionDeps = {
  store: SubscriptionStore
  numbers: Pick<RmsgNumberStore, 'access'>
  hosts: HostPolicy
  clock: Clock
  subscriptionId: () => string
}

/** A method that refuses a request throws ResourceFault. */
export type Subscriptions = {
  /**
   * Finds the organization whose subscriptions are managed. Resolves with null if the tenant may not manage another
   * organization's subscriptions. Throws `named_not_found` if the organization does not exist.
   */
  ownerOf(tenant: Tenant, organizationId: string | undefined): Promise<Tenant | null>
  list(owner: Tenant): Promise<Subscription[]>
  /** Checks the subscription's fields, before its organization is looked up. */
  check(input: SubscriptionInput): void
  put(owner: Tenant, input: SubscriptionInput): Promise<{ subscription: Subscription; isNew: boolean }>
  remove(owner: Tenant, id: string): Promise<void>
  removeAll(owner: Tenant): Promise<void>
}

const subscriptionsMax = 20

export function createSubscriptions({ store, numbers, hosts, clock, subscriptionId }: SubscriptionDeps): Subscriptions {
  return {
    async ownerOf(tenant, organizationId) {
      if (organizationId === undefined) return tenant
      if ((await numbers.access(tenant))?.isAdmin !== true) return null
      const owner = { organizationId, test: tenant.test }
      if ((await numbers.access(owner)) === null)
        throw new ResourceFault({ kind: 'named_not_found', path: ['organizationId'] })
      return owner
    },
    list: (owner) => store.list(owner),
    check({ url }) {
      const problem = urlProblem(url, hosts)
      refuseIssues(problem ? [{ path: ['url'], problem }] : [])
    },
    async put({ organizationId, test }, { url, tags, signingSecret }) {
      const nowMs = clock.nowMs()
      const subscription = { organizationId, test, id: subscriptionId(), url, tags: tags ?? {}, updatedAtMs: nowMs }
      const secret = signingSecret ?? null
      const signing = (stored: SigningSecret | null) => (secret === null ? null : replacedSecret(stored, secret, nowMs))
      const outcome = await store.put(subscription, signing, subscriptionsMax)
      if (outcome !== 'limit_reached') return outcome
      throw new ResourceFault({
        kind: 'limit_reached',
        resource: 'rich-message subscription',
        limit: subscriptionsMax,
      })
    },
    async remove(owner, id) {
      if (!(await store.remove(owner, id))) throw new ResourceFault({ kind: 'not_found' })
    },
    removeAll: (owner) => store.removeAll(owner),
  }
}

/** Returns the subscriptions that get an event whose message has these tags. A received message has no tags. */
export function matching<Subscribed extends { tags: Tags }>(
  subscriptions: readonly Subscribed[],
  tags: Tags,
): Subscribed[] {
  return subscriptions.filter((subscription) => tagsMatch(subscription.tags, tags))
}
