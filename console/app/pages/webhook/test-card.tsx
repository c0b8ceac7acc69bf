import { Link } from '@tanstack/react-router'
import type {
  Webhook,
  WebhookEventType,
  WebhookTestResult,
} from '../../../../generated/clients/typescript/models/platform.ts'
import { useTestWebhook } from '../../data/webhooks.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { resultOf } from '../../parts/deliveries.tsx'
import { eventTypes } from '../../parts/endpoints.tsx'
import { SelectField } from '../../parts/field.tsx'
import { Notice } from '../../parts/notice.tsx'
import { RoleForm } from '../../parts/role.tsx'

/** Sends an example event to the endpoint now, and shows the result. */
export function TestCard({ webhook: { id, events, disabled } }: { webhook: Webhook }) {
  const test = useTestWebhook(id)
  const choices = eventTypes
    .filter(({ type }) => events.includes(type))
    .map(({ type, label }) => ({ value: type, label: `${label} (${type})` }))
  return (
    <Card title="Send a test event">
      <RoleForm
        needs="testWebhook"
        action="Sending a test event"
        error={test.error}
        submit={(values) => test.mutate(values.text('event') as WebhookEventType)}
        actions={
          <Button type="submit" disabled={test.isPending || disabled}>
            {test.isPending ? 'Sending…' : 'Send'}
          </Button>
        }
      >
        <SelectField label="Event" name="event" choices={choices} />
        {test.data && <Result result={test.data} />}
      </RoleForm>
    </Card>
  )
}

function Result({ result }: { result: WebhookTestResult }) {
  const { delivered, deliveryId, preCall } = result
  return (
    <Notice tone={delivered ? 'good' : 'alarm'} title={delivered ? 'Accepted' : resultOf(result)}>
      {preCall && !preCall.valid && (
        <ul>
          {preCall.issues.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      <Link to="/deliveries/$id" params={{ id: deliveryId }}>
        See the request and the answer
      </Link>
    </Notice>
  )
}
