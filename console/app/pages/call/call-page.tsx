import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo } from 'react'
import type { Call, CallEvent } from '../../../../generated/clients/typescript/models/platform.ts'
import { callEventsQuery, callQuery, useFollow } from '../../data/calls.ts'
import { usePathId, useSearchValues } from '../../parts/address.ts'
import { CommandStrip } from '../../parts/command-strip.tsx'
import { useTitle } from '../../parts/page.tsx'
import { Answer, Loading } from '../../parts/states.tsx'
import { slowMs } from '../../parts/statuses.ts'
import { CallHeader } from './call-header.tsx'
import { timelineOf } from './timeline.ts'
import { Workspace } from './workspace.tsx'

/** Few people replay a turn, so the code of a replay is loaded when it is opened. */
const ReplayPage = lazy(async () => ({ default: (await import('./replay-page.tsx')).ReplayPage }))

export function CallPage() {
  if (useSearchValues()['replay'] === undefined) return <WholeCall />
  return (
    <Suspense fallback={<LoadingReplay />}>
      <ReplayPage />
    </Suspense>
  )
}

function LoadingReplay() {
  return (
    <>
      <h1 className="unseen">Replay</h1>
      <Loading />
    </>
  )
}

/** Shows one call: its sound, its words, where its time went, and its results. */
function WholeCall() {
  const id = usePathId()
  const call = useQuery(callQuery(id))
  const events = useQuery(callEventsQuery(id))
  useTitle('Call')
  useFollow(id, call.data?.ended_at === null)
  return (
    <>
      <Answer of={call} heading="Call" rows={14}>
        {(data) => (
          <Answer of={events} heading="Call" rows={14}>
            {(all) => <LoadedCall call={data} events={all} />}
          </Answer>
        )}
      </Answer>
      <CommandStrip command={{ path: `/v1/calls/${id}`, cli: `calls show ${id}` }} />
    </>
  )
}

function LoadedCall({ call, events }: { call: Call; events: readonly CallEvent[] }) {
  const timeline = useMemo(() => timelineOf(call, slowMs), [call])
  return (
    <>
      <CallHeader call={call} events={events} />
      <Workspace call={call} events={events} timeline={timeline} />
    </>
  )
}
