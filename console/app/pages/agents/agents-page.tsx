import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import type { Agent } from '../../../../generated/clients/typescript/models/platform.ts'
import { agentsQuery } from '../../data/agents.ts'
import { Moment } from '../../parts/moment.tsx'
import { Page } from '../../parts/page.tsx'
import { Private } from '../../parts/redaction.tsx'
import { RoleLink, RoleNote } from '../../parts/role.tsx'
import { useRowKeys } from '../../parts/row-keys.ts'
import { Answer, Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'

const columns: readonly Column<Agent>[] = [
  { name: 'Name', cell: ({ name }) => <Private>{name}</Private> },
  { name: 'Language', cell: ({ intent }) => intent.language },
  { name: 'Voice', cell: ({ voice }) => voice ?? 'chosen by routing' },
  { name: 'LLM', cell: ({ llmOptions }) => llmOptions?.model ?? 'chosen by routing', isExtra: true },
  { name: 'Changed', cell: ({ updatedAt }) => <Moment at={updatedAt} /> },
  { name: 'Version', cell: ({ version }) => version, isNumber: true },
]

export function AgentsPage() {
  const agents = useQuery(agentsQuery)
  useRowKeys()
  return (
    <Page
      title="Agents"
      lead="How your calls are answered: words, voice, models and tools."
      actions={
        <RoleLink needs="createAgent" to="/agents/new" look="main">
          <Plus aria-hidden="true" />
          New agent
        </RoleLink>
      }
      command={{ path: '/v1/agents', cli: 'agents list' }}
    >
      <RoleNote needs="createAgent" action="Making an agent" />
      <Answer of={agents}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No agent yet">
              <p>An agent is a prompt with a voice. You can talk to it here as soon as it is stored.</p>
              <RoleLink needs="createAgent" to="/agents/new" look="main">
                Make an agent
              </RoleLink>
            </Empty>
          ) : (
            <Table
              label="Agents"
              columns={columns}
              rows={rows}
              keyOf={({ id }) => id}
              to={({ id }) => `/agents/${id}`}
            />
          )
        }
      </Answer>
    </Page>
  )
}
