/**
 * Sends the `call.pre_call` event for a phone call: the endpoint's answer may change the call's settings before its
 * conversation begins.
 */
import type { PhoneLog } from '../calls/journal.ts'
import type { CallStore } from '../calls/store.ts'
import type { LiveCall } from '../conversation/parts/live-call.ts'
import type { Clock } from '../ports/system.ts'
import type { Caller } from '../records/organization.ts'
import { refuseIssues } from '../records/resource-fault.ts'
import { issuesOfRequest } from '../sessions/check.ts'
import { applyPreCall, asRequest, type PreCall, type PreCallOverrides } from '../sessions/pre-call.ts'
import { type Preparation, type PrepareDeps, prepared } from '../sessions/prepare.ts'
import type { SessionRequest } from '../sessions/start.ts'
import type { SessionRoutes } from '../speech/session-routes.ts'
import { withReserved } from './new-call.ts'

export type AskBeforeDeps = Pick<PrepareDeps, 'rules'> & {
  preCall: PreCall
  routes: SessionRoutes
  calls: Pick<CallStore, 'reconfigure'>
  clock: Clock
  ids: { session: () => string }
}

export type PreCallContext = {
  caller: Caller
  request: SessionRequest
  preparation: Preparation
}

/** Resolves with the call, ready for its conversation and with the endpoint's changed settings. */
export async function askBefore(
  deps: AskBeforeDeps,
  { caller, request, preparation }: PreCallContext,
  record: Pick<PhoneLog, 'event'>,
  live: LiveCall,
): Promise<LiveCall> {
  const { call, secrets } = live
  const own = { pipeline: call.pipeline, metadata: call.metadata, secrets }
  const remake = async (overrides: PreCallOverrides) => {
    refuseIssues(await issuesOfRequest(asRequest(request, overrides), deps.rules, call.organizationId))
    const changed = await prepared(deps, preparation, request, overrides)
    deps.routes.require(caller, changed.pipeline)
    return call.phone === null ? changed : withReserved(changed, call.phone)
  }
  const { settings, events } = await applyPreCall(deps, call, own, remake)
  for (const { type, payload } of events) record.event(type, payload)
  const { unset } = preparation.occasion
  if (unset !== null && unset.size > 0) record.event('call.variables_missing', { variables: [...unset] })
  if (settings === own) return live
  const changed = { ...call, pipeline: settings.pipeline, metadata: settings.metadata }
  await deps.calls.reconfigure(changed, settings.secrets)
  return { ...live, call: changed, secrets: settings.secrets }
}
