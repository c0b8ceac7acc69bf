import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import type { Webhook } from '../../../../generated/clients/typescript/models/platform.ts'
import { webhooksQuery } from '../../data/webhooks.ts'
import { EndpointState } from '../../parts/endpoints.tsx'
import { plural } from '../../parts/formats.ts'
import { Stack } from '../../parts/layout.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Page } from '../../parts/page.tsx'
import { Private } from '../../parts/redaction.tsx'
import { RoleLink, RoleNote } from '../../parts/role.tsx'
import { useRowKeys } from '../../parts/row-keys.ts'
import { Answer, Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { SigningSecret } from './signing-secret.tsx'

const columns: readonly Column<Webhook>[] = [
  { name: 'Name', cell: ({ name }) => <Private>{name}</Private> },
  { name: 'URL', cell: ({ url }) => <Address url={url} /> },
  { name: 'Events', cell: ({ events }) => events.map((event) => event.replace('call.', '')).join(', ') },
  { name: 'Agents', cell: ({ allAgents, agentIds }) => (allAgents ? 'all' : plural(agentIds.length, 'agent')) },
  { name: 'State', cell: EndpointState },
]

/** Shows a URL without its query, because a query can have a secret. */
function Address({ url }: { url: string }) {
  const [address = ''] = url.split(/[?#]/)
  return (
    <code>
      <Private>{address.replace(/^https:\/\//, '')}</Private>
    </code>
  )
}

export function WebhooksPage() {
  const webhooks = useQuery(webhooksQuery)
  useRowKeys()
  return (
    <Page
      title="Webhooks"
      lead="Addresses of yours that get the events of calls as they happen."
      actions={
        <>
          <LinkButton to="/deliveries" search={{ status: 'failed' }}>
            Failed deliveries
          </LinkButton>
          <RoleLink needs="createWebhook" to="/webhooks/new" look="main">
            <Plus aria-hidden="true" />
            Add an endpoint
          </RoleLink>
        </>
      }
      command={{ path: '/v1/webhooks', cli: 'webhooks list' }}
    >
      <Answer of={webhooks}>
        {(rows) => (
          <Stack>
            {rows.length === 0 ? (
              <Empty title="No endpoint gets events yet">
                <p>
                  Without an endpoint, <code>parley listen</code> receives the events on your machine.
                </p>
              </Empty>
            ) : (
              <Table
                label="Endpoints"
                columns={columns}
                rows={rows}
                keyOf={({ id }) => id}
                to={({ id }) => `/webhooks/${id}`}
              />
            )}
            <RoleNote needs="createWebhook" action="Adding an endpoint" />
            <SigningSecret />
          </Stack>
        )}
      </Answer>
    </Page>
  )
}
