/** Reaches calls in this process, or in another process with the same database. */
import { isTerminal } from '../../records/states/call.ts'
import type { LiveCalls } from '../live-calls.ts'
import type { CallStore } from '../store.ts'
import type { CallRegistry } from './call-registry.ts'
import type { CallCommands } from './commands.ts'

export type LiveCallDeps = {
  live: Pick<CallRegistry, 'end' | 'joinState'>
  calls: Pick<CallStore, 'find'>
  commands: Pick<CallCommands, 'send'>
}

export function createLiveCalls({ live, calls, commands }: LiveCallDeps): LiveCalls {
  return {
    async joinState(tenant, callId) {
      const here = live.joinState(tenant, callId)
      if (here.isHere) return here
      const call = await calls.find(tenant, callId)
      if (call === null || isTerminal(call.status)) return here
      if (call.ownerId === null) return null
      const receipt = await commands.send(tenant, callId, call.ownerId, { kind: 'joinState' })
      const answer = receipt?.answer ?? null
      return answer !== null && 'isHere' in answer ? answer : null
    },
    async end(tenant, callId, reason, clientReason) {
      if (live.end(tenant, callId, reason, clientReason)) return 'ending'
      const call = await calls.find(tenant, callId)
      if (call === null || call.ownerId === null) return null
      if (isTerminal(call.status)) return 'already_ended'
      const command = { kind: 'end', reason, ...(clientReason !== undefined && { clientReason }) } as const
      const receipt = await commands.send(tenant, callId, call.ownerId, command)
      return receipt === null ? null : 'ending'
    },
  }
}
