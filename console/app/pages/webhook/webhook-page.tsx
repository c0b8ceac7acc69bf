import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Webhook } from '../../../../generated/clients/typescript/models/platform.ts'
import { newestDeliveriesQuery } from '../../data/deliveries.ts'
import { useDeleteWebhook, useUpdateWebhook, webhookQuery } from '../../data/webhooks.ts'
import { usePathId } from '../../parts/address.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { DeliveriesTable } from '../../parts/deliveries.tsx'
import { EndpointForm, EndpointState } from '../../parts/endpoints.tsx'
import { ConfirmDialog } from '../../parts/form.tsx'
import { Columns, Faint, Line, Stack } from '../../parts/layout.tsx'
import { ActionFault, Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { PageAnswer } from '../../parts/page-answer.tsx'
import { useMask } from '../../parts/redaction.tsx'
import { RoleButton } from '../../parts/role.tsx'
import { Answer } from '../../parts/states.tsx'
import { RecoverCard } from './recover-card.tsx'
import { TestCard } from './test-card.tsx'

export function WebhookPage() {
  const id = usePathId()
  const webhook = useQuery(webhookQuery(id))
  return (
    <PageAnswer of={webhook} title="Endpoint">
      {(data) => <Endpoint key={data.updatedAt} webhook={data} />}
    </PageAnswer>
  )
}

function Endpoint({ webhook }: { webhook: Webhook }) {
  const { id, name, disabled, legacyManaged } = webhook
  const update = useUpdateWebhook(id)
  const [isDeleting, setDeleting] = useState(false)
  const mask = useMask()
  return (
    <Page
      title={mask(name)}
      lead={<EndpointState {...webhook} />}
      actions={
        <>
          <RoleButton
            needs="updateWebhook"
            disabled={update.isPending}
            onClick={() => update.mutate({ disabled: !disabled })}
          >
            {disabled ? 'Enable' : 'Disable'}
          </RoleButton>
          <RoleButton needs="deleteWebhook" look="alarm" onClick={() => setDeleting(true)}>
            Delete
          </RoleButton>
        </>
      }
      command={{ path: `/v1/webhooks/${id}`, cli: `webhooks show ${id}` }}
    >
      <Columns>
        <Stack>
          {legacyManaged && (
            <Notice tone="warn" title="A deprecated field of an agent made this endpoint">
              <p>Change and delete it there.</p>
            </Notice>
          )}
          <RecentDeliveries id={id} />
          <Card title="Settings">
            <EndpointForm
              start={webhook}
              needs="updateWebhook"
              action="Changing, disabling and deleting the endpoint"
              error={update.variables?.disabled === undefined ? update.error : null}
              save={(settings) => update.mutate(settings)}
              actions={
                <Button type="submit" look="main" disabled={update.isPending}>
                  Save
                </Button>
              }
            />
          </Card>
        </Stack>
        <Stack>
          {update.variables?.disabled !== undefined && <ActionFault error={update.error} />}
          <TestCard webhook={webhook} />
          <RecoverCard webhook={webhook} />
          <Others webhook={webhook} />
        </Stack>
      </Columns>
      {isDeleting && <DeleteDialog webhook={webhook} onClose={() => setDeleting(false)} />}
    </Page>
  )
}

const shownMax = 8

function RecentDeliveries({ id }: { id: string }) {
  const deliveries = useQuery(newestDeliveriesQuery(id, shownMax))
  return (
    <Stack>
      <Line>
        <h2>Deliveries</h2>
        <Link to="/deliveries" search={{ endpointId: id }}>
          Show all
        </Link>
      </Line>
      <Answer of={deliveries} rows={3}>
        {(rows) => {
          if (rows.length === 0) return <Faint>Nothing was sent to this endpoint yet. Send a test event.</Faint>
          return <DeliveriesTable rows={rows} hides={['Endpoint', 'Call']} />
        }}
      </Answer>
    </Stack>
  )
}

/** Shows the settings that only the API changes, so the page shows the whole endpoint. */
function Others({ webhook: { filterTags, headers, authHeaders, extractionFields, hasCustomSigningSecret } }: Props) {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['Only calls with the tags', Object.entries(filterTags).map(([name, value]) => `${name}=${value}`)],
    ['Headers', [...Object.keys(headers), ...authHeaders.map(({ name }) => `${name} (secret)`)]],
    ['Values that are read out of calls', extractionFields.map(({ name }) => name)],
    ['Signed by', [hasCustomSigningSecret ? 'the secret of this endpoint' : 'the secret of the organization']],
  ]
  return (
    <Card title="More settings">
      <Stack>
        {lists
          .filter(([, values]) => values.length > 0)
          .map(([label, values]) => (
            <div key={label}>
              <Faint>{label}</Faint>
              <p>{values.join(', ')}</p>
            </div>
          ))}
      </Stack>
    </Card>
  )
}

type Props = { webhook: Webhook }

function DeleteDialog({ webhook: { id, name }, onClose }: Props & { onClose: () => void }) {
  const remove = useDeleteWebhook(id)
  const navigate = useNavigate()
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete the endpoint"
      isPending={remove.isPending}
      error={remove.error}
      run={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/webhooks' }) })}
      onClose={onClose}
    >
      <p>Deliveries that wait are cancelled. The log of its deliveries stays.</p>
    </ConfirmDialog>
  )
}
