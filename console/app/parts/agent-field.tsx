import { useQuery } from '@tanstack/react-query'
import { agentsQuery } from '../data/agents.ts'
import { SelectField } from './field.tsx'

type AgentFieldProps = { label: string; name: string; none: string; start?: string | null }

/** A choice among the agents, or no agent. */
export function AgentField({ label, name, none, start = null }: AgentFieldProps) {
  const { data = [] } = useQuery(agentsQuery)
  const choices = [{ value: '', label: none }, ...data.map((agent) => ({ value: agent.id, label: agent.name }))]
  // The list comes after the first look at the page, so the choice begins anew then.
  return <SelectField key={data.length} label={label} name={name} choices={choices} defaultValue={start ?? ''} />
}
