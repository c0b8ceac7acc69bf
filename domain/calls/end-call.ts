/** Ends a call owned by this process, by another process, or by no process. */
import { Fault } from '../records/fault.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import type { LiveCalls } from './live-calls.ts'
import type { CallStore } from './store.ts'

export type End = { status: 'ending' } | { status: 'already_ended'; endedAtMs: number }
/** `clientReason` is the client's reason for the end, as free text. The call's end event shows it. */
export type EndCall = (tenant: Tenant, id: string, clientReason?: string) => Promise<End>

/**
 * The returned function rejects with ResourceFault `not_found` if there is no such call, and with the fault
 * `overloaded` if the call's process does not answer.
 */
export function createEndCall(calls: Pick<CallStore, 'endUnowned' | 'find'>, live: LiveCalls): EndCall {
  return async (tenant, id, clientReason) => {
    const ended = await calls.endUnowned(tenant, id, 'api_ended', clientReason)
    if (ended === null) throw new ResourceFault({ kind: 'not_found' })
    if (ended.state === 'ended_now') return { status: 'ending' }
    if (ended.state === 'ended_before') return { status: 'already_ended', endedAtMs: ended.endedAtMs }
    if ((await live.end(tenant, id, 'api_ended', clientReason)) === 'ending') return { status: 'ending' }
    const endedAtMs = (await calls.find(tenant, id))?.endedAtMs ?? null
    if (endedAtMs !== null) return { status: 'already_ended', endedAtMs }
    throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1 })
  }
}
