import { useQuery } from '@tanstack/react-query'
import { newestQuery } from '../../data/calls.ts'
import { Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/states.tsx'
import { FirstSteps } from './first-steps.tsx'
import styles from './overview-page.module.css'
import { RecentCalls } from './recent-calls.tsx'

const shownCalls = 8

/** Shows the newest calls, and the steps to a first call until there are several calls. */
export function OverviewPage() {
  const newest = useQuery(newestQuery({}, shownCalls))
  const live = useQuery(newestQuery({ live: true }, shownCalls))
  const refetch = () => Promise.all([newest.refetch(), live.refetch()])
  // One note tells of both failures. While the newest calls are loading, a failure of the live calls shows nothing yet.
  const error = newest.error ?? (newest.data ? live.error : null)
  return (
    <Page title="Overview" command={{ path: `/v1/calls?limit=${shownCalls}`, cli: 'calls list' }}>
      <Answer of={{ ...newest, error, refetch }} rows={8}>
        {(calls) => (
          <div className={styles.parts}>
            <RecentCalls title="Live now" calls={live.data ?? []} />
            <RecentCalls title="Newest calls" calls={calls.filter(({ ended_at: end }) => end !== null)} />
            {calls.length < shownCalls && <FirstSteps newest={calls[0]} />}
          </div>
        )}
      </Answer>
    </Page>
  )
}
