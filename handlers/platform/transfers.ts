/** The operations on transfers of calls. */
import { fallbackRow, transferRow } from '../../domain/calls/transfer-payload.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { AskTransfers, TransferProgress } from '../../domain/transfers/ask-transfers.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type * as Wire from '../../generated/platform/types.ts'
import type { Repeatable } from './repeatable.ts'

type Handlers = PlatformHandlers<Caller>

export function transferOperations(transfers: AskTransfers, repeatable: Repeatable) {
  return {
    transferCallBlind: repeatable(transferCallBlind(transfers)),
    transferCallWarm: repeatable(transferCallWarm(transfers)),
    completeTransfer: repeatable(completeTransfer(transfers)),
    cancelTransfer: repeatable(cancelTransfer(transfers)),
  } satisfies Partial<Handlers>
}

function transferCallBlind(transfers: AskTransfers): Handlers['transferCallBlind'] {
  return async ({ path, body }, { caller }) => {
    const { transfer } = await transfers.blind(caller, path.id, body)
    return { status: 201, body: transferRow(transfer) }
  }
}

function transferCallWarm(transfers: AskTransfers): Handlers['transferCallWarm'] {
  return async ({ path, body }, { caller }) => ({
    status: 201,
    body: wireProgress(await transfers.warm(caller, path.id, body)),
  })
}

function completeTransfer(transfers: AskTransfers): Handlers['completeTransfer'] {
  return async ({ path, body }, { caller }) => {
    const { recipientParticipantIdentity: recipientIdentity = null, summary = null } = body ?? {}
    const options = { recipientIdentity, summary }
    const { transfer } = await transfers.complete(caller, path.id, path.transferId, options)
    return { status: 200, body: transferRow(transfer) }
  }
}

function cancelTransfer(transfers: AskTransfers): Handlers['cancelTransfer'] {
  return async ({ path, body }, { caller }) => {
    const { tryNext, voicemailDetected, reason, summary } = body ?? {}
    const options = {
      tryNext: tryNext ?? false,
      voicemailDetected: voicemailDetected ?? false,
      reason: reason ?? null,
      summary: summary ?? null,
    }
    return { status: 200, body: wireProgress(await transfers.cancel(caller, path.id, path.transferId, options)) }
  }
}

function wireProgress({ transfer, attempts, next, fallback }: TransferProgress): Wire.TransferProgress {
  return {
    ...transferRow(transfer),
    routing_attempts: attempts.map(transferRow),
    next_transfer: next && transferRow(next),
    fallback: fallbackRow(fallback),
  }
}
