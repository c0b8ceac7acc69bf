/**
 * Sends provider events to matching subscriptions while the provider waits for the HTTP response. The event's bytes are
 * stored first, and each subscription that accepted it is recorded. So if the provider sends the event again after a
 * failure or a crash, only the other subscriptions get it.
 *
 *   arrives ──► no subscription matches: taken
 *      └──► stored, claimed ──► sent side by side ──► all accepted it: taken
 *                 ▲                        └──► one did not accept it: not taken; the provider sends it again
 *                 └── comes again ◄────────┘
 */
import type { RichMessageEvent } from '../ports/rich-messages.ts'
import type { Tenant } from '../records/organization.ts'
import type { Attempt } from '../records/webhook-delivery.ts'
import { signingSecretsAt } from '../records/webhook-endpoint.ts'
import { type AttemptDeps, post } from '../webhooks/attempt.ts'
import type { WorkspaceSecrets } from '../webhooks/workspace-secret.ts'
import { matching, type SubscriptionStore, type SubscriptionTarget } from './subscriptions.ts'

/** The organization, the number and the conversation for an event. */
export type RoutedEvent = Tenant & {
  phoneNumberId: string
  /** A phone number in E.164 form. */
  phoneNumber: string
  providerIdentity: string
  conversationId: string
  /** The tags of the sent message. Empty for a received message. */
  tags: Readonly<Record<string, string>>
}

export type ClaimedEvent = Tenant & {
  /** The UUID of the event's row. */
  rowId: string
  /** The bytes received when the event first arrived. */
  body: Uint8Array
  /** Ids of subscriptions that have accepted the event. */
  acceptedBy: ReadonlySet<string>
}

export interface RmsgEventStore {
  /**
   * Finds the event's organization, and updates the status of its message. Resolves with null if no organization
   * receives the event.
   */
  route(event: RichMessageEvent): Promise<RoutedEvent | null>
  /** Stores and claims the event. `in_work`: a process is sending it now. `taken`: all subscriptions have it. */
  claim(event: RichMessageEvent, routed: RoutedEvent): Promise<ClaimedEvent | 'in_work' | 'taken'>
  /** Stores one attempt, even if it failed. */
  attempted(event: RichMessageEvent, claimed: ClaimedEvent, target: SubscriptionTarget, attempt: Attempt): Promise<void>
  /** Ends the claim. `isAccepted` is true if all subscriptions have the event. */
  release(claimed: ClaimedEvent, isAccepted: boolean): Promise<void>
}

export type ReceiveEventDeps = AttemptDeps & {
  events: RmsgEventStore
  subscriptions: Pick<SubscriptionStore, 'targets'>
  secrets: Pick<WorkspaceSecrets, 'signingSecrets'>
  /** A word in our webhook headers' names, in lower case, set by the operator. */
  headerWord: string
}

export type EventOutcome = 'taken' | 'not_taken' | 'in_work'
export type ReceiveEvent = (event: RichMessageEvent) => Promise<EventOutcome>

/** If a subscription has not answered after this time, the event counts as not accepted. */
const timeoutMs = 10_000

export function createReceiveEvent(deps: ReceiveEventDeps): ReceiveEvent {
  const { events, subscriptions } = deps
  return async (event) => {
    const routed = await events.route(event)
    if (routed === null) return 'taken'
    const targets = matching(await subscriptions.targets(routed), routed.tags)
    if (targets.length === 0) return 'taken'
    const claimed = await events.claim(event, routed)
    if (typeof claimed === 'string') return claimed
    const open = targets.filter(({ id }) => !claimed.acceptedBy.has(id))
    // The claim must end after all sends. Otherwise another process could repeat a send that is still running.
    const ends = await Promise.allSettled(open.map((target) => sendTo(deps, { event, routed, claimed }, target)))
    const isAccepted = ends.every((end) => end.status === 'fulfilled' && end.value)
    await events.release(claimed, isAccepted)
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed) throw failed.reason
    return isAccepted ? 'taken' : 'not_taken'
  }
}

type Sending = { event: RichMessageEvent; routed: RoutedEvent; claimed: ClaimedEvent }

async function sendTo(
  deps: ReceiveEventDeps,
  { event, routed, claimed }: Sending,
  target: SubscriptionTarget,
): Promise<boolean> {
  const word = deps.headerWord
  const headers = {
    [`x-${word}-phone-number-id`]: routed.phoneNumberId,
    [`x-${word}-phone-number`]: routed.phoneNumber,
    [`x-${word}-provider-identity-id`]: routed.providerIdentity,
    [`x-${word}-event-type`]: event.type,
  }
  const { url, signing } = target
  const signingSecrets =
    signing === null
      ? await deps.secrets.signingSecrets(routed.organizationId)
      : signingSecretsAt(signing, deps.clock.nowMs())
  const endpoint = { url, headers, authHeaders: {}, timeoutMs, isDisabled: false, signingSecrets }
  const about = { type: event.type, callId: null, createdAtMs: deps.clock.nowMs() }
  const { organizationId } = routed
  const sent = { ...about, id: event.id, body: claimed.body, lane: target.id, organizationId }
  const { attempt } = await post(deps, endpoint, sent, 'automatic')
  await deps.events.attempted(event, claimed, target, attempt)
  return attempt.error === null
}
