import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import type { WebhookDeliveryDetail } from '../../../../generated/clients/typescript/models/platform.ts'
import { deliveryQuery, useSendAgain } from '../../data/deliveries.ts'
import { useMay } from '../../data/may.ts'
import { usePathId } from '../../parts/address.ts'
import { Card } from '../../parts/card.tsx'
import { DeliveryStatus } from '../../parts/deliveries.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Columns, Line, Stack } from '../../parts/layout.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { PageAnswer } from '../../parts/page-answer.tsx'
import { Private } from '../../parts/redaction.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { useShortcuts } from '../../parts/shortcuts.tsx'
import { Attempts } from './attempts.tsx'
import { DeliveryFacts } from './delivery-facts.tsx'
import { Explanation } from './explanation.tsx'

/** Shows one delivery: why it failed, each attempt with its request and answer, and the button that sends it again. */
export function DeliveryPage() {
  const id = usePathId()
  const delivery = useQuery(deliveryQuery(id))
  return (
    <PageAnswer of={delivery} title="Delivery">
      {(data) => <Whole delivery={data} />}
    </PageAnswer>
  )
}

function Whole({ delivery }: { delivery: WebhookDeliveryDetail }) {
  const { id, event, status, canRedeliver, requestPayload, attempts } = delivery
  const again = useSendAgain(id)
  const may = useMay('redeliverWebhook')
  useSendKey(may && canRedeliver && !again.isPending, again.mutate)
  return (
    <Page
      title={event}
      lead={
        <Line>
          <DeliveryStatus status={status} />
          <span>
            to <Endpoint delivery={delivery} />
          </span>
        </Line>
      }
      actions={
        <RoleButton
          needs="redeliverWebhook"
          look="main"
          disabled={!canRedeliver || again.isPending}
          onClick={() => again.mutate()}
        >
          <RotateCw aria-hidden="true" />
          {again.isPending ? 'Sending…' : 'Send again'}
        </RoleButton>
      }
      command={{ method: 'POST', path: `/v1/webhook-deliveries/${id}/redeliver`, cli: `webhooks resend ${id}` }}
    >
      <Columns>
        <Stack>
          <Explanation delivery={delivery} sent={again.data} />
          <RoleNote needs="redeliverWebhook" action="Sending a delivery again" />
          <ActionFault error={again.error} />
          <Attempts attempts={attempts} />
          <Card title="Payload">
            <JsonView text={JSON.stringify(requestPayload)} label="The body, the same in each attempt" />
          </Card>
        </Stack>
        <Card title="Delivery">
          <DeliveryFacts delivery={delivery} />
        </Card>
      </Columns>
    </Page>
  )
}

function Endpoint({
  delivery: { endpointId, endpointName, endpointDeleted, endpointKind },
}: {
  delivery: WebhookDeliveryDetail
}) {
  if (endpointDeleted || endpointKind === 'rmsg') return <Private>{endpointName}</Private>
  return (
    <Link to="/webhooks/$id" params={{ id: endpointId }}>
      <Private>{endpointName}</Private>
    </Link>
  )
}

function useSendKey(isAllowed: boolean, send: () => void): void {
  const [latest] = useState<{ run: () => void }>(() => ({ run: () => undefined }))
  useEffect(() => {
    latest.run = () => {
      if (isAllowed) send()
    }
  })
  useShortcuts(useMemo(() => [{ keys: 'r', label: 'Send again', run: () => latest.run() }], [latest]))
}
