import { useQuery } from '@tanstack/react-query'
import { agentsQuery } from '../data/agents.ts'
import { SelectField } from './field.tsx'

type AgentFieldProps = { label: string; name: string; none: string; start?: string | null }

/** Asks for an agent. The first choice means no agent. */
export function AgentField({ label, name, none, start = null }: AgentFieldProps) {
  const { data = [] } = useQuery(agentsQuery)
  const choices = [{ value: '', label: none }, ...data.map((agent) => ({ value: agent.id, label: agent.name }))]
  // The list of agents comes after the page. The new key lets the field choose its first value again.
  return <SelectField key={data.length} label={label} name={name} choices={choices} defaultValue={start ?? ''} />
}
