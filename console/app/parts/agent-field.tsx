import { useQuery } from '@tanstack/react-query'
import { agentsQuery } from '../data/agents.ts'
import { SelectField } from './field.tsx'

type AgentFieldProps = { label: string; name: string; none: string; start?: string | null }

/** A select field with the agents, and a choice for no agent. */
export function AgentField({ label, name, none, start = null }: AgentFieldProps) {
  const { data = [] } = useQuery(agentsQuery)
  const choices = [{ value: '', label: none }, ...data.map((agent) => ({ value: agent.id, label: agent.name }))]
  // The agents are loaded after the field is first drawn. With another key, React draws the field anew, and it can
  // select `start`.
  return <SelectField key={data.length} label={label} name={name} choices={choices} defaultValue={start ?? ''} />
}
