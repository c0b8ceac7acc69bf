import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Agent } from '../../../../generated/clients/typescript/models/platform.ts'
import { agentQuery, useDeleteAgent } from '../../data/agent.ts'
import { usePathId, useSearchValues } from '../../parts/address.ts'
import type { Command } from '../../parts/command-strip.tsx'
import { ConfirmDialog } from '../../parts/form.tsx'
import { Line, Tabs } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Page } from '../../parts/page.tsx'
import { PageAnswer } from '../../parts/page-answer.tsx'
import { useMask } from '../../parts/redaction.tsx'
import { RoleButton } from '../../parts/role.tsx'
import { SettingsForm } from './settings-form.tsx'
import { Talk } from './talk.tsx'
import { Tools } from './tools.tsx'
import { Versions } from './versions.tsx'

const views = [
  { tab: 'settings', name: 'Settings' },
  { tab: 'tools', name: 'Tools' },
  { tab: 'versions', name: 'Versions' },
  { tab: 'talk', name: 'Talk to it' },
] as const

export function AgentPage() {
  const id = usePathId()
  const agent = useQuery(agentQuery(id))
  return (
    <PageAnswer of={agent} title="Agent">
      {(data) => <Whole agent={data} />}
    </PageAnswer>
  )
}

function Whole({ agent }: { agent: Agent }) {
  const { id, name, version, updatedAt } = agent
  const search = useSearchValues()
  const tab = views.find((view) => view.tab === search['tab'])?.tab ?? 'settings'
  const [isDeleting, setDeleting] = useState(false)
  const mask = useMask()
  return (
    <Page
      title={mask(name)}
      lead={
        <Line>
          <span>
            Version {version}, changed <Moment at={updatedAt} />
          </span>
          <Link to="/calls" search={{ agent_id: id }}>
            Its calls
          </Link>
        </Line>
      }
      actions={
        <RoleButton needs="deleteAgent" look="alarm" onClick={() => setDeleting(true)}>
          Delete
        </RoleButton>
      }
      command={commandOf(agent, tab)}
    >
      <Tabs
        label="Views of the agent"
        tabs={views.map((view) => ({
          name: view.name,
          to: `/agents/${id}`,
          search: { tab: view.tab },
          isCurrent: view.tab === tab,
        }))}
      />
      {tab === 'settings' && <SettingsForm agent={agent} />}
      {tab === 'tools' && <Tools agentId={id} />}
      {tab === 'versions' && <Versions agent={agent} shown={Number(search['version'] ?? version)} />}
      {tab === 'talk' && <Talk agentId={id} />}
      {isDeleting && <DeleteDialog agent={agent} onClose={() => setDeleting(false)} />}
    </Page>
  )
}

function commandOf({ id }: Agent, tab: (typeof views)[number]['tab']): Command {
  const path = `/v1/agents/${id}`
  const commands: Record<typeof tab, Command> = {
    settings: { path, cli: `agents show ${id}` },
    tools: { path: `${path}/tools`, cli: `tools list ${id}` },
    versions: { path: `${path}/versions`, cli: `agents versions ${id}` },
    talk: {
      method: 'POST',
      path: '/v1/sessions/phone',
      body: { agentId: id, to: '+15005550006' },
      cli: `dial +15005550006 --agent ${id}`,
    },
  }
  return commands[tab]
}

function DeleteDialog({ agent: { id, name }, onClose }: { agent: Agent; onClose: () => void }) {
  const remove = useDeleteAgent(id)
  const navigate = useNavigate()
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete the agent"
      isPending={remove.isPending}
      error={remove.error}
      run={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/agents' }) })}
      onClose={onClose}
    >
      <p>Its numbers answer no calls any more. Calls that it has had stay, with their transcripts.</p>
    </ConfirmDialog>
  )
}
