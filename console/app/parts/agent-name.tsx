import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { agentsQuery } from '../data/agents.ts'
import { Faint } from './layout.tsx'

/** Shows an agent's name as a link to the agent. */
export function AgentName({ id }: { id: string | null }) {
  const { data = [] } = useQuery(agentsQuery)
  if (id === null) return <Faint>none</Faint>
  const name = data.find((agent) => agent.id === id)?.name
  // A deleted agent keeps its usage and its callbacks, but has no name any more.
  if (name === undefined) return <code>{id}</code>
  return (
    <Link to="/agents/$id" params={{ id }}>
      {name}
    </Link>
  )
}
