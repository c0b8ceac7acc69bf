/** Shows the state of webhook endpoints, and has the form for their settings. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Webhook, WebhookEventType } from '../../../generated/clients/typescript/models/platform.ts'
import { agentsQuery } from '../data/agents.ts'
import { Badge } from './badge.tsx'
import { TextField } from './field.tsx'
import { CheckField, FieldGroup, FieldRow } from './form.tsx'
import type { FormValues } from './form-values.ts'
import { RoleForm } from './role.tsx'

const eventTexts: Record<WebhookEventType, { label: string; note: string }> = {
  'call.pre_call': { label: 'Before a call', note: 'The answer can change the agent for this call.' },
  'call.status': { label: 'Status', note: 'Each change of the status, and transfers.' },
  'call.report': { label: 'Report', note: 'The transcript and the analysis after the end.' },
  'call.analysis': { label: 'Analysis', note: 'The analysis alone.' },
  'call.recording': { label: 'Recording', note: 'The link when the recording is ready.' },
}

/** Forms and filters show the types in this order. */
export const eventTypes = Object.entries(eventTexts).map(([type, texts]) => ({
  type: type as WebhookEventType,
  ...texts,
}))

const reasons: Record<NonNullable<Webhook['disabledReason']>, string> = {
  manual: 'disabled',
  gone: 'disabled: it answered 410',
  failing: 'disabled: it failed for five days',
  agents_deleted: 'disabled: its agents were deleted',
}

export function EndpointState({ disabledReason }: Pick<Webhook, 'disabledReason'>) {
  if (disabledReason === null) return <Badge tone="good">enabled</Badge>
  return <Badge tone={disabledReason === 'manual' ? 'plain' : 'alarm'}>{reasons[disabledReason]}</Badge>
}

export type EndpointSettings = {
  name: string
  url: string
  events: WebhookEventType[]
  allAgents: boolean
  agentIds: string[]
  timeoutMs?: number
}

type FormProps = {
  start?: Webhook
  needs: 'createWebhook' | 'updateWebhook'
  /** Begins the sentence about the role that the form needs. */
  action: string
  save: (settings: EndpointSettings) => void
  error: unknown
  actions: ReactNode
}

/** Asks for the settings that most endpoints need. The API has more: tags, headers, a secret for the endpoint. */
export function EndpointForm({ start, needs, action, save, error, actions }: FormProps) {
  const agents = useQuery(agentsQuery)
  return (
    <RoleForm
      needs={needs}
      action={action}
      error={error}
      actions={actions}
      submit={(values) => save(settingsIn(values))}
    >
      <FieldRow>
        <TextField label="Name" name="name" required maxLength={120} defaultValue={start?.name} placeholder="CRM" />
        <TextField
          label="URL"
          name="url"
          type="url"
          required
          defaultValue={start?.url}
          placeholder="https://hooks.example/calls"
        />
      </FieldRow>
      <FieldGroup label="Events">
        {eventTypes.map(({ type, label, note }) => (
          <CheckField
            key={type}
            label={label}
            note={note}
            name="events"
            value={type}
            defaultChecked={start ? start.events.includes(type) : type === 'call.report'}
          />
        ))}
      </FieldGroup>
      <FieldGroup label="Agents" note="Without a choice, the endpoint gets the events of all calls.">
        {(agents.data ?? []).map(({ id, name }) => (
          <CheckField
            key={id}
            label={name}
            name="agentIds"
            value={id}
            defaultChecked={start?.agentIds.includes(id) ?? false}
          />
        ))}
      </FieldGroup>
      <FieldRow>
        <TextField
          label="Time limit in milliseconds"
          name="timeoutMs"
          type="number"
          min={1000}
          max={30_000}
          defaultValue={start?.timeoutMs}
          placeholder="10000"
          note="An attempt that takes longer has failed."
        />
      </FieldRow>
    </RoleForm>
  )
}

function settingsIn(values: FormValues): EndpointSettings {
  const agentIds = values.all('agentIds')
  const timeoutMs = values.number('timeoutMs')
  return {
    name: values.text('name'),
    url: values.text('url'),
    events: values.all('events') as WebhookEventType[],
    allAgents: agentIds.length === 0,
    agentIds,
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
}
