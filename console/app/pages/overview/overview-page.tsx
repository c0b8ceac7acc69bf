import { useQuery } from '@tanstack/react-query'
import { newestQuery } from '../../data/calls.ts'
import { Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/states.tsx'
import { FirstSteps } from './first-steps.tsx'
import styles from './overview-page.module.css'
import { RecentCalls } from './recent-calls.tsx'

const shownCalls = 8

/** Shows the steps to a first call, and after that call the newest calls. */
export function OverviewPage() {
  const newest = useQuery(newestQuery({}, shownCalls))
  const live = useQuery(newestQuery({ live: true }, shownCalls))
  return (
    <Page title="Overview" command={{ path: `/v1/calls?limit=${shownCalls}`, cli: 'calls list' }}>
      <Answer of={newest} rows={8}>
        {(calls) => (
          <div className={styles.parts}>
            {calls.length === 0 && <FirstSteps />}
            {(live.data ?? []).length > 0 && <RecentCalls title="Live now" calls={live.data ?? []} />}
            {calls.length > 0 && (
              <RecentCalls title="Newest calls" calls={calls.filter(({ ended_at: end }) => end !== null)} />
            )}
            {calls.length > 0 && calls.length < shownCalls && <FirstSteps />}
          </div>
        )}
      </Answer>
    </Page>
  )
}
