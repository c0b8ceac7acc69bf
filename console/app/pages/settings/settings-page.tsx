import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Organization, OrganizationChange } from '../../../../generated/clients/typescript/models/platform.ts'
import { organizationQuery, useChangeOrganization } from '../../data/organization.ts'
import { methodsQuery, useSession } from '../../data/session.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Facts } from '../../parts/facts.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { CheckField } from '../../parts/form.tsx'
import type { FormValues } from '../../parts/form-values.ts'
import { count, money } from '../../parts/formats.ts'
import { Columns, Stack } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { RoleForm } from '../../parts/role.tsx'
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

const storing = (keeps: boolean) => (keeps ? 'keep' : 'drop')

/** Returns only changed settings, because the audit log names each setting in a request. */
function changeOf(values: FormValues, organization: Organization): OrganizationChange {
  const chosen = {
    name: values.text('name'),
    recording: values.has('recording'),
    timeZone: values.text('timeZone'),
    toolResults: storing(values.has('toolResults')),
    messageText: storing(values.has('messageText')),
  } as const
  const names = Object.keys(chosen) as (keyof typeof chosen)[]
  const changed = names.filter((name) => chosen[name] !== organization[name])
  return Object.fromEntries(changed.map((name) => [name, chosen[name]]))
}

/** Lists the zones, UTC first. The browser's list lacks UTC, and may lack the organization's zone. */
function zoneChoices(current: string) {
  const zones = new Set(['UTC', ...[...Intl.supportedValuesOf('timeZone'), current].sort()])
  return [...zones].map((value) => ({ value, label: value }))
}

function ChangeCard({ organization }: { organization: Organization }) {
  // The fields show the settings as first fetched. Only differences from these are saved: compared with settings that
  // were fetched later, another admin's change would look like a change by this person.
  const [shown, setShown] = useState(organization)
  const { name, recording, timeZone, toolResults, messageText } = shown
  const change = useChangeOrganization()
  return (
    <Card title="Organization">
      <RoleForm
        needs="updateOrganization"
        action="Changing the settings"
        error={change.error}
        submit={(values) => change.mutate(changeOf(values, shown), { onSuccess: setShown })}
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
        <SelectField
          label="Time zone"
          name="timeZone"
          defaultValue={timeZone}
          choices={zoneChoices(timeZone)}
          note="The console shows times in it, and days of the usage and of figures over calls begin at its midnight."
        />
        <CheckField
          label="Store results of tools"
          name="toolResults"
          defaultChecked={toolResults === 'keep'}
          note="The pages of calls show them. Without it, results are not stored from now on; results that are stored stay."
        />
        <CheckField
          label="Store texts of messages"
          name="messageText"
          defaultChecked={messageText === 'keep'}
          note="Conversations show them. Without it, texts are not stored from now on; texts that are stored stay."
        />
        {change.isSuccess && <Notice tone="good" title="Saved. Calls obey within two seconds." />}
      </RoleForm>
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
