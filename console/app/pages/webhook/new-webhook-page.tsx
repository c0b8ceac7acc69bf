import { useNavigate } from '@tanstack/react-router'
import { useCreateWebhook } from '../../data/webhooks.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { EndpointForm } from '../../parts/endpoints.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Page } from '../../parts/page.tsx'

const example = { name: 'CRM', url: 'https://hooks.example/calls', events: ['call.report'] }

export function NewWebhookPage() {
  const created = useCreateWebhook()
  const navigate = useNavigate()
  const open = (id: string) => void navigate({ to: '/webhooks/$id', params: { id } })
  return (
    <Page
      title="Add an endpoint"
      lead="Parley sends each event as a signed POST, and repeats it for 48 hours until the endpoint answers with 2xx."
      command={{
        method: 'POST',
        path: '/v1/webhooks',
        body: example,
        cli: `webhooks create --set name=CRM --set url=https://hooks.example/calls --set 'events=["call.report"]'`,
      }}
    >
      <Card>
        <EndpointForm
          needs="createWebhook"
          action="Adding an endpoint"
          error={created.error}
          save={(settings) => created.mutate(settings, { onSuccess: ({ id }) => open(id) })}
          actions={
            <>
              <Button type="submit" look="main" disabled={created.isPending}>
                Add the endpoint
              </Button>
              <LinkButton to="/webhooks">Cancel</LinkButton>
            </>
          }
        />
      </Card>
    </Page>
  )
}
