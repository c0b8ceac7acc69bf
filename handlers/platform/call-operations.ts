/** Makes the operations on stored sessions and calls. */
import type { WatchGrant } from '../../domain/access/revocations.ts'
import type { Calls } from '../../domain/calls/calls.ts'
import type { EndCall } from '../../domain/calls/end-call.ts'
import type { FollowCall } from '../../domain/calls/follow.ts'
import type { FollowCalls } from '../../domain/calls/follow-calls.ts'
import type { Reports } from '../../domain/calls/reports.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { WebJoin } from '../../domain/sessions/web-join.ts'
import type { AskTransfers } from '../../domain/transfers/ask-transfers.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { Capacity } from '../../runtime/shares/capacity.ts'
import type { PublicUrlOf } from '../public-url.ts'
import { getCallBundle } from './call-bundle.ts'
import { type FigureDeps, getCallFigures } from './call-figures.ts'
import { listCalls } from './call-list.ts'
import { streamCalls } from './call-list-stream.ts'
import {
  endCall,
  getCall,
  getCallReport,
  listAgentCalls,
  listCallEvents,
  listCallRequests,
  webJoinCall,
} from './calls.ts'
import { finalizeCallReport } from './finalize.ts'
import { getCallRecording, getCallRecordingAudio, getRecordingPeaks } from './recordings.ts'
import type { Repeatable } from './repeatable.ts'
import { getSession, getSessionTranscript, listSessions } from './session-reads.ts'
import { streamSession } from './session-stream.ts'
import { transferOperations } from './transfers.ts'

export type CallDeps = FigureDeps & {
  calls: Calls
  reports: Reports
  /** Limits the bundles of calls whose data is in memory. */
  bundles: Capacity
  follow: FollowCall
  followCalls: FollowCalls
  endCall: EndCall
  webJoin: WebJoin
  transfers: AskTransfers
}

export function callOperations(
  { calls, reports, follow, ...deps }: CallDeps,
  publicUrlOf: PublicUrlOf,
  repeatable: Repeatable,
  watchGrant: WatchGrant,
) {
  return {
    listSessions: listSessions(calls),
    getSession: getSession(calls),
    getSessionTranscript: getSessionTranscript(calls),
    streamSession: streamSession(follow, watchGrant),
    listCalls: listCalls(calls),
    streamCalls: streamCalls(deps.followCalls, watchGrant),
    getCallFigures: getCallFigures(deps),
    listAgentCalls: listAgentCalls(calls),
    getCall: getCall(calls),
    listCallEvents: listCallEvents(calls),
    listCallRequests: listCallRequests(calls),
    getCallReport: getCallReport(calls),
    finalizeCallReport: finalizeCallReport(reports),
    getCallRecording: getCallRecording(calls, publicUrlOf),
    getCallRecordingAudio: getCallRecordingAudio(calls),
    getRecordingPeaks: getRecordingPeaks(calls),
    getCallBundle: getCallBundle(calls, deps.clock, deps.bundles),
    endCall: endCall(deps.endCall),
    webJoinCall: webJoinCall(deps.webJoin, publicUrlOf),
    ...transferOperations(deps.transfers, repeatable),
  } satisfies Partial<PlatformHandlers<Caller>>
}
