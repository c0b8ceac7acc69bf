import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Webhook } from '../../../../generated/clients/typescript/models/platform.ts'
import { useRecoverWebhook } from '../../data/webhooks.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { CommandStrip } from '../../parts/command-strip.tsx'
import { SelectField } from '../../parts/field.tsx'
import { count } from '../../parts/formats.ts'
import { Faint } from '../../parts/layout.tsx'
import { Notice } from '../../parts/notice.tsx'
import { RoleForm } from '../../parts/role.tsx'

const hourMs = 3_600_000
const minuteMs = 60_000
/** The server sends at most this many deliveries again for one request. */
const recoveredMax = 10_000

const choices = [
  { value: '1', label: 'The last hour' },
  { value: '24', label: 'The last 24 hours' },
  { value: '168', label: 'The last 7 days' },
  { value: '720', label: 'The last 30 days' },
]

/** Sends failed deliveries again, for example after the endpoint was repaired. */
export function RecoverCard({ webhook: { id, disabled } }: { webhook: Webhook }) {
  const recover = useRecoverWebhook(id)
  const [hours, setHours] = useState('24')
  const since = sinceOf(hours)
  return (
    <Card title="Send failed deliveries again">
      <RoleForm
        needs="recoverWebhook"
        action="Sending deliveries again"
        error={recover.error}
        submit={() => recover.mutate(sinceOf(hours))}
        actions={
          <Button type="submit" disabled={recover.isPending || disabled}>
            {recover.isPending ? 'Sending…' : 'Send failed deliveries again'}
          </Button>
        }
      >
        <SelectField
          label="Created in"
          name="hours"
          choices={choices}
          value={hours}
          onChange={(event) => setHours(event.target.value)}
        />
        {disabled && <Faint>Enable the endpoint first.</Faint>}
        {recover.data && <Result id={id} deliveries={recover.data.deliveries} />}
      </RoleForm>
      <CommandStrip
        label="Send failed deliveries again by a program"
        command={{
          method: 'POST',
          path: `/v1/webhooks/${id}/recover`,
          body: { since },
          cli: `webhooks recover ${id} --since ${since}`,
        }}
      />
    </Card>
  )
}

/** Whole minutes, so the line for programs stays as it is while the page is drawn again. */
function sinceOf(hours: string): string {
  const wholeMs = Math.floor(Date.now() / minuteMs) * minuteMs
  return new Date(wholeMs - Number(hours) * hourMs).toISOString()
}

function Result({ id, deliveries }: { id: string; deliveries: number }) {
  if (deliveries === 0) return <Notice tone="calm" title="No failed delivery is left to send again" />
  return (
    <Notice
      tone="good"
      title={`${deliveries === 1 ? '1 delivery is' : `${count(deliveries)} deliveries are`} sent again`}
    >
      {deliveries >= recoveredMax && <p>More may be left. Send again for the rest.</p>}
      <Link to="/deliveries" search={{ endpointId: id }}>
        See whether they arrive
      </Link>
    </Notice>
  )
}
