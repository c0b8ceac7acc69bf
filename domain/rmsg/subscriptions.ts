/**
 * Subscriptions of organizations to the events of their rich messages. An organization has one for each address. The admin
 * organization may manage those of any organization.
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
  /** A message must have all of these among its tags. Without any, the subscription gets every event. */
  tags: Tags
  signingSecretSource: 'organization' | 'custom'
  updatedAtMs: number
}

/** `signing` is null where the secret of the organization signs. */
export type SubscriptionTarget = Pick<Subscription, 'id' | 'url' | 'tags'> & { signing: SigningSecret | null }

/** Every call reads and writes rows of this tenant alone. An id of another form is an unknown one. */
export type SubscriptionStore = {
  /** Newest first. */
  list(tenant: Tenant): Promise<Subscription[]>
  /** With their secrets. */
  targets(tenant: Tenant): Promise<SubscriptionTarget[]>
  /** Replaces the subscription of the same address, or inserts one. `signing` answers the new secret to the stored one. */
  put(
    wanted: Omit<Subscription, 'signingSecretSource'>,
    signing: (stored: SigningSecret | null) => SigningSecret | null,
    subscriptionsMax: number,
  ): Promise<{ subscription: Subscription; isNew: boolean } | 'limit_reached'>
  /** Answers whether there was one. */
  remove(tenant: Tenant, id: string): Promise<boolean>
  removeAll(tenant: Tenant): Promise<void>
}

export type WantedSubscription = { url: string; tags?: Tags | null; signingSecret?: string | null }

export type SubscriptionDeps = {
  store: SubscriptionStore
  numbers: Pick<RmsgNumberStore, 'access'>
  hosts: HostPolicy
  clock: Clock
  subscriptionId: () => string
}

/** Every operation throws ResourceFault. */
export type Subscriptions = {
  /**
   * The organization whose subscriptions are meant. Null: the tenant may not name another one. Throws `named_not_found` for an
   * unknown organization.
   */
  ownerOf(tenant: Tenant, organizationId: string | undefined): Promise<Tenant | null>
  list(owner: Tenant): Promise<Subscription[]>
  /** All that can be wrong with the subscription itself, which is refused before an organization is looked up. */
  check(wanted: WantedSubscription): void
  put(owner: Tenant, wanted: WantedSubscription): Promise<{ subscription: Subscription; isNew: boolean }>
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
      const wanted = { organizationId, test, id: subscriptionId(), url, tags: tags ?? {}, updatedAtMs: nowMs }
      const secret = signingSecret ?? null
      const signing = (stored: SigningSecret | null) => (secret === null ? null : replacedSecret(stored, secret, nowMs))
      const outcome = await store.put(wanted, signing, subscriptionsMax)
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

/** Those that get an event of a message that was sent with these tags. A message that was received has none. */
export function matching<Subscribed extends { tags: Tags }>(
  subscriptions: readonly Subscribed[],
  tags: Tags,
): Subscribed[] {
  return subscriptions.filter((subscription) => tagsMatch(subscription.tags, tags))
}
