/** The operations on an organization's subscriptions to its rich-message events. */
import { type Caller, type Tenant, tenantOf } from '../../domain/records/organization.ts'
import type { Subscription, Subscriptions } from '../../domain/rmsg/subscriptions.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { RmsgSubscription } from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { timeOf } from './times.ts'

export function rmsgSubscriptionOperations(subscriptions: Subscriptions) {
  const ownerOf = async (caller: Caller, organizationId: string | undefined): Promise<Tenant> => {
    const owner = await subscriptions.ownerOf(tenantOf(caller), organizationId)
    if (owner !== null) return owner
    throw new Refusal('invalid_parameter', {
      param: 'organizationId',
      message: 'organizationId is for keys of the admin organization alone',
      keyword: 'additionalProperties',
    })
  }
  return {
    putRmsgSubscription: async ({ query, body }, { caller }) => {
      subscriptions.check(body)
      const owner = await ownerOf(caller, query.organizationId)
      const { subscription, isNew } = await subscriptions.put(owner, body)
      return { status: isNew ? 201 : 200, body: wired(subscription) }
    },
    listRmsgSubscriptions: async ({ query }, { caller }) => {
      const all = await subscriptions.list(await ownerOf(caller, query.organizationId))
      return { status: 200, body: { configured: all.length > 0, subscriptions: all.map(wired) } }
    },
    deleteRmsgSubscription: async ({ path, query }, { caller }) => {
      await subscriptions.remove(await ownerOf(caller, query.organizationId), path.id)
      return { status: 204 }
    },
    deleteRmsgSubscriptions: async ({ query }, { caller }) => {
      await subscriptions.removeAll(await ownerOf(caller, query.organizationId))
      return { status: 204 }
    },
  } satisfies Partial<PlatformHandlers<Caller>>
}

const eventTypes: RmsgSubscription['eventTypes'] = [
  'rmsg.received',
  'rmsg.reaction_received',
  'rmsg.sent',
  'rmsg.delivered',
  'rmsg.delivery_failed',
]

function wired({ id, test, url, tags, signingSecretSource, updatedAtMs }: Subscription): RmsgSubscription {
  return {
    ...{ configured: true, id, url, tags, signingSecretSource, eventTypes, updatedAt: timeOf(updatedAtMs) },
    ...(test && { test: true }),
  }
}
