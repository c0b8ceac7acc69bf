import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { Tool } from '../../../../generated/clients/typescript/models/platform.ts'
import { toolsQuery, useDeleteTool } from '../../data/agent.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { ConfirmDialog } from '../../parts/form.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Faint, Line, Stack } from '../../parts/layout.tsx'
import { useMask } from '../../parts/redaction.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { ToolDialog } from './tool-dialog.tsx'

/** The list of the agent's tools, which run while the caller waits. */
export function Tools({ agentId }: { agentId: string }) {
  const tools = useQuery(toolsQuery(agentId))
  const [edited, setEdited] = useState<Tool | 'new' | null>(null)
  const [removed, setRemoved] = useState<Tool | null>(null)
  const add = (
    <RoleButton needs="createAgentTool" look="main" onClick={() => setEdited('new')}>
      <Plus aria-hidden="true" />
      Add a tool
    </RoleButton>
  )
  return (
    <Answer of={tools} rows={4}>
      {(rows) => (
        <Stack>
          <RoleNote needs="createAgentTool" action="Changing the tools" />
          {rows.length === 0 ? (
            <Empty title="The agent has no tools">
              <p>
                A tool is a function of yours that the agent calls while the caller waits, such as a look at the stock.
              </p>
              {add}
            </Empty>
          ) : (
            <Line>{add}</Line>
          )}
          {rows.map((tool) => (
            <ToolCard key={tool.id} tool={tool} edit={() => setEdited(tool)} remove={() => setRemoved(tool)} />
          ))}
          {edited !== null && (
            <ToolDialog agentId={agentId} {...(edited !== 'new' && { tool: edited })} onClose={() => setEdited(null)} />
          )}
          {removed !== null && <RemoveDialog agentId={agentId} tool={removed} onClose={() => setRemoved(null)} />}
        </Stack>
      )}
    </Answer>
  )
}

type CardProps = { tool: Tool; edit: () => void; remove: () => void }

function ToolCard({ tool: { name, description, source, parameters }, edit, remove }: CardProps) {
  const mask = useMask()
  return (
    <Card
      title={name}
      actions={
        <Line>
          <Badge tone="calm">{source.kind}</Badge>
          {source.kind === 'webhook' && (
            <RoleButton needs="updateAgentTool" isSmall onClick={edit} aria-label={`Change ${name}`}>
              Change
            </RoleButton>
          )}
          <RoleButton needs="deleteAgentTool" isSmall look="alarm" onClick={remove} aria-label={`Remove ${name}`}>
            Remove
          </RoleButton>
        </Line>
      }
    >
      <Stack>
        <p>{description}</p>
        {source.kind === 'webhook' && (
          <Faint>
            <code>{mask(source.url)}</code>
          </Faint>
        )}
        <details>
          <summary>Arguments</summary>
          <JsonView text={JSON.stringify(parameters)} label={`Arguments of ${name}`} />
        </details>
      </Stack>
    </Card>
  )
}

function RemoveDialog({ agentId, tool, onClose }: { agentId: string; tool: Tool; onClose: () => void }) {
  const remove = useDeleteTool(agentId)
  return (
    <ConfirmDialog
      title={`Remove ${tool.name}`}
      action="Remove the tool"
      isPending={remove.isPending}
      error={remove.error}
      run={() => remove.mutate(tool.id, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>The agent cannot call it any more. A version before has it still, and can be restored.</p>
    </ConfirmDialog>
  )
}
