import { useQuery } from '@tanstack/react-query'
import type { Organization } from '../../../../generated/clients/typescript/models/platform.ts'
import { organizationQuery, useChangeOrganization } from '../../data/organization.ts'
import { methodsQuery, useSession } from '../../data/session.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Facts } from '../../parts/facts.tsx'
import { TextField } from '../../parts/field.tsx'
import { CheckField, Form } from '../../parts/form.tsx'
import { count, money } from '../../parts/formats.ts'
import { Columns, Stack } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/states.tsx'

/** The settings of the organization, and what the operator has set for it. */
export function SettingsPage() {
  const organization = useQuery(organizationQuery)
  return (
    <Page
      title="Settings"
      lead="The organization that you work in."
      command={{ path: '/v1/organization', cli: 'organization show' }}
    >
      <Answer of={organization} rows={8}>
        {(data) => (
          <Columns>
            <Stack>
              <ChangeCard key={data.id} organization={data} />
              <SignInCard />
            </Stack>
            <Stack>
              <OperatorCard organization={data} />
              <ServerCard />
            </Stack>
          </Columns>
        )}
      </Answer>
    </Page>
  )
}

function ChangeCard({ organization: { name, recording } }: { organization: Organization }) {
  const change = useChangeOrganization()
  return (
    <Card title="Organization">
      <Form
        error={change.error}
        submit={(values) => change.mutate({ name: values.text('name'), recording: values.has('recording') })}
        actions={
          <Button type="submit" look="main" disabled={change.isPending}>
            Save
          </Button>
        }
      >
        <TextField label="Name" name="name" required maxLength={200} defaultValue={name} />
        <CheckField
          label="Record calls"
          name="recording"
          defaultChecked={recording}
          note="Calls are recorded if their agent or session does not decide. Without it, no call is recorded, and recordings that have not begun do not begin."
        />
        {change.isSuccess && <Notice tone="good" title="Saved. Calls obey within two seconds." />}
      </Form>
    </Card>
  )
}

function SignInCard() {
  const methods = useQuery(methodsQuery)
  return (
    <Card title="How people sign in">
      <Answer of={methods} rows={3}>
        {({ password, oidc, smtp }) => (
          <Stack>
            <Facts
              rows={[
                ['Password', password ? 'yes' : 'no'],
                ['Providers', oidc.length === 0 ? 'none' : oidc.map(({ name }) => name).join(', ')],
                ['Mails', smtp ? 'are sent by this server' : 'are not sent: a page shows each link'],
              ]}
            />
            <p>
              The operator of this server chooses the ways to sign in, with <code>oidc</code> and <code>smtp</code> of
              its settings.
            </p>
          </Stack>
        )}
      </Answer>
    </Card>
  )
}

const limit = (value: number | null) => (value === null ? 'no limit' : count(value))

function OperatorCard({ organization }: { organization: Organization }) {
  const { id, maxConcurrency, maxSessions, creditMicroUsd, smsEnabled, rmsgEnabled, createdAt } = organization
  return (
    <Card title="Set by the operator">
      <Facts
        rows={[
          ['Id', <code key="id">{id}</code>],
          ['Credit', money(creditMicroUsd)],
          ['Requests at a time', limit(maxConcurrency)],
          ['Calls at a time', limit(maxSessions)],
          ['Text messages (10DLC)', smsEnabled ? 'on' : 'off'],
          ['Rich messages', rmsgEnabled ? 'on' : 'off'],
          ['Made', <Moment key="made" at={createdAt} />],
        ]}
      />
    </Card>
  )
}

function ServerCard() {
  const { server, role } = useSession()
  return (
    <Card title="This server">
      <Facts
        rows={[
          ['Version', server.version],
          ['Region', server.region],
          ['Your role', role],
        ]}
      />
    </Card>
  )
}
