import { useSession } from '../data/session.ts'
import { Notice } from './notice.tsx'

/** Says that nothing real is ordered, if this server has the simulated carrier. */
export function SimulatedCarrier() {
  if (!useSession().server.simulatedCarrier) return null
  return <Notice tone="calm" title="Simulated carrier: no real number, no real money." />
}
