/**
 * A process's claim on an event ends when the deliveries to all subscriptions have ended, even if one delivery met an
 * internal error.
 */
import t from 'tap'
import type { RichMessageEvent } from '../../domain/ports/rich-messages.ts'
import { type ClaimedEvent, createReceiveEvent, type RoutedEvent } from '../../domain/rmsg/events.ts'
import type { SubscriptionTarget } from '../../domain/rmsg/subscriptions.ts'
import { createDeadlines } from '../../runtime/outbound/deadlines.ts'
import { systemClock as clock } from '../../runtime/timing/clock.ts'

const event: RichMessageEvent = {
  ...{ id: 'evt_1', type: 'rmsg.received', occurredAtMs: 0, providerIdentity: 'x', conversationId: null },
  ...{ remoteNumber: '+15005550030', messageId: 'm', report: null, receivedOver: null, text: null },
  bytesFor: () => Buffer.from('{}'),
}
const tenant = { organizationId: 'org_1', test: false }
const routed: RoutedEvent = {
  ...tenant,
  ...{ phoneNumberId: 'n', phoneNumber: '+15005550200', providerIdentity: 'x', conversationId: 'c', tags: {} },
}
const claimed: ClaimedEvent = { ...tenant, rowId: 'row', body: Buffer.from('{}'), acceptedBy: new Set() }
const target = (id: string): SubscriptionTarget => ({ id, url: `https://${id}.example.com/`, tags: {}, signing: null })

t.test('a delivery error is thrown only after the deliveries to the other subscriptions have finished', async (t) => {
  const steps: string[] = []
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const receive = createReceiveEvent({
    client: {
      async post({ url }) {
        if (url.includes('slow')) await answered
        return { status: 204, headers: {}, body: new Uint8Array() } as never
      },
    },
    clock,
    deadline: createDeadlines(clock),
    attemptId: () => '1',
    events: {
      route: () => Promise.resolve(routed),
      claim: () => Promise.resolve(claimed),
      attempted(_event, _claimed, { id }) {
        steps.push(`attempted ${id}`)
        return id === 'broken' ? Promise.reject(new Error('the database is away')) : Promise.resolve()
      },
      release(_claimed, isTaken) {
        steps.push(`release ${isTaken}`)
        return Promise.resolve()
      },
    },
    subscriptions: { targets: () => Promise.resolve([target('broken'), target('slow')]) },
    secrets: { signingSecrets: () => Promise.resolve(['whsec_AAAA']) },
    headerWord: 'service',
  })
  const ended = receive(event).then(
    () => null,
    (error: unknown) => error,
  )
  while (steps.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  t.same(steps, ['attempted broken'], 'the slow one is being sent to')
  answer()
  t.match(await ended, { message: 'the database is away' })
  t.same(steps, ['attempted broken', 'attempted slow', 'release false'])
})
