import { Link } from '@tanstack/react-router'
import type { WebhookDeliveryDetail } from '../../../../generated/clients/typescript/models/platform.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { DeliveredCall, isSentOnce, isTestEvent } from '../../parts/deliveries.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Line } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { useTimes } from '../../parts/times.tsx'

/** Lists the facts about a delivery: its times, its call and agent, its tags and its ids. */
export function DeliveryFacts({ delivery }: { delivery: WebhookDeliveryDetail }) {
  const { zone } = useTimes()
  const { id, eventId, sessionId, agentId, occurredAt, deliveredAt, expiresAt, webhookTags } = delivery
  const tags = Object.entries(webhookTags)
  const isTest = isTestEvent(delivery)
  return (
    <Facts
      rows={[
        ['Happened', <Moment key="happened" at={occurredAt} />],
        ['Accepted', deliveredAt && <Moment key="accepted" at={deliveredAt} />],
        [
          'Given up after',
          deliveredAt === null && !isSentOnce(delivery) ? <Moment key="expires" at={expiresAt} /> : null,
        ],
        ['Call', isTest ? 'none: a test event' : sessionId && <DeliveredCall key="call" of={delivery} />],
        [
          'Agent',
          agentId && (
            <Link key="agent" to="/agents/$id" params={{ id: agentId }}>
              {agentId}
            </Link>
          ),
        ],
        ['Tags', tags.length > 0 ? tags.map(([name, value]) => `${name}=${value}`).join(', ') : null],
        ['Event id', <Id key="event" id={eventId} />],
        ['Delivery id', <Id key="id" id={id} />],
        ['Times in', zone],
      ]}
    />
  )
}

function Id({ id }: { id: string }) {
  return (
    <Line>
      <code title={id}>…{id.slice(-12)}</code>
      <CopyButton text={id} label="Copy the id" />
    </Line>
  )
}
