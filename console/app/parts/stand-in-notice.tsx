import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { standInQuery } from '../data/models.ts'
import { Notice } from './notice.tsx'

/** Says that an agent cannot follow its prompt yet, if no language model is connected. */
export function StandInNotice() {
  const { data: isStandIn } = useQuery(standInQuery)
  if (!isStandIn) return null
  return (
    <Notice tone="warn" title="No language model is connected: the answers are canned.">
      <Link to="/providers">Add a provider’s key</Link>
    </Notice>
  )
}
