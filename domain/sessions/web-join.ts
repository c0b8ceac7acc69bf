/** Lets a person join a live call from a browser. The page gets a token for the call's media channel. */
import type { LiveCalls } from '../calls/live-calls.ts'
import type { CallStore } from '../calls/store.ts'
import type { Clock } from '../ports/system.ts'
import { roomNameOf } from '../records/call.ts'
import { Fault } from '../records/fault.ts'
import type { Caller } from '../records/organization.ts'
import { tenantOf } from '../records/organization.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import { mediaUrl, type TransportTokens } from './transport-token.ts'

export type WebJoinDeps = {
  calls: Pick<CallStore, 'find'>
  live: Pick<LiveCalls, 'joinState'>
  tokens: Pick<TransportTokens, 'mint'>
  clock: Clock
  /** Makes a name for the person in this session. */
  identity: () => string
}

export type WebJoined = { token: string; url: string; identity: string; roomName: string; expiresAtMs: number }

/**
 * Resolves with the data for joining. `publicUrl` is this server's URL as the client sees it. Rejects with
 * ResourceFault `not_found` and `call_not_live`, with Fault `too_many_at_once`, and with Fault `overloaded` if the
 * call's process does not answer.
 */
export type WebJoin = (caller: Caller, id: string, displayName: string | null, publicUrl: string) => Promise<WebJoined>

/** The person must join within this time. Fixed in the contract. */
const ttlMs = 60_000

export function createWebJoin({ calls, live, tokens, clock, identity: newIdentity }: WebJoinDeps): WebJoin {
  return async (caller, id, displayName, publicUrl) => {
    const call = await calls.find(tenantOf(caller), id)
    if (call === null) throw new ResourceFault({ kind: 'not_found' })
    // Directly after a call has begun, its row may still say `queued`. If the call has an owning process, that process
    // is asked.
    const isBegun = call.status === 'in_progress' || (call.status === 'queued' && call.ownerId !== null)
    const isTransferring = call.status === 'transferring'
    if (!isBegun && !isTransferring) throw new ResourceFault({ kind: 'call_not_live' })
    const state = await live.joinState(tenantOf(caller), id)
    if (state === null) throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1 })
    if (!state.isHere)
      throw new ResourceFault({ kind: 'call_not_live', ...(state.isHandedOver && { because: 'with_recipient' }) })
    if (isTransferring) throw new ResourceFault({ kind: 'call_not_live', because: 'transferring' })
    if (state.isFull) throw new Fault({ kind: 'too_many_at_once', limit: 'session' }, { retryAfterS: 1 })
    const { organizationId } = call
    const identity = newIdentity()
    const expiresAtMs = clock.nowMs() + ttlMs
    const claims = { sessionId: id, identity, organizationId, keyId: caller.keyId, expiresAtMs }
    return {
      token: tokens.mint({ ...claims, person: { displayName } }),
      url: mediaUrl(state.nodeUrl ?? publicUrl, id),
      identity,
      roomName: roomNameOf(call),
      expiresAtMs,
    }
  }
}
