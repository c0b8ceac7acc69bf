/** Runs transfers requested by a call's agent with the function `transfer_call`. */
import { fallbackRow } from '../calls/transfer-payload.ts'
import type { ToolResult } from '../conversation/parts/deps.ts'
import type { Log } from '../ports/system.ts'
import type { Call } from '../records/call.ts'
import { Fault } from '../records/fault.ts'
import type { Caller } from '../records/organization.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import type { TransferToolRequest } from '../records/transfer-request.ts'
import type { AskTransfers } from './ask-transfers.ts'

/**
 * Resolves when the caller is back with the agent or has left for good. The result is text for the LLM. Never rejects.
 */
export type TransferTool = (caller: Caller, call: Call, request: TransferToolRequest) => Promise<ToolResult>

export function createTransferTool(transfers: Pick<AskTransfers, 'byAgent'>, log: Log): TransferTool {
  return async (caller, call, { config, label }) => {
    try {
      const last = await transfers.byAgent(caller, call.id, config, label)
      if (last === null) return { failure: { code: 'invalid_arguments', detail: 'no destination has this label' } }
      const { status, failureCause, fallback } = last
      return { result: JSON.stringify({ status, failure_cause: failureCause, fallback: fallbackRow(fallback) }) }
    } catch (err) {
      if (err instanceof ResourceFault || err instanceof Fault)
        return { failure: { code: 'not_allowed', detail: err.data.kind } }
      log.error({ err, callId: call.id }, 'an agent could not transfer a call')
      return { failure: { code: 'failed' } }
    }
  }
}
