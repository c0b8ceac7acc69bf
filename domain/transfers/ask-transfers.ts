/** Handles transfer requests from API clients. All checks happen before the request is sent to the call's process. */
import type { Credit } from '../billing/ledger.ts'
import type { CallCommands } from '../calls/live/commands.ts'
import type { CallStore } from '../calls/store.ts'
import type { Call } from '../records/call.ts'
import type { CallableNumbers } from '../records/callable-number.ts'
import { afterSending, Fault } from '../records/fault.ts'
import { type Caller, type Tenant, tenantOf } from '../records/organization.ts'
import { ResourceFault, requireResource } from '../records/resource-fault.ts'
import { isTerminal } from '../records/states/call.ts'
import type {
  LiveTransfers,
  Transfer,
  TransferAnswer,
  TransferCancelRequest,
  TransferCommand,
  TransferCompleteRequest,
  TransferDone,
  TransferSettings,
  TransferStore,
} from '../records/transfer.ts'
import type { BlindRequest, TransferConfig, WarmRequest } from '../records/transfer-request.ts'
import { requireCredit } from '../sessions/prepare.ts'
import { type ReadTransfer, readBlind, readWarm, type TransferRules } from './settings/read-transfer.ts'
import { readTransferConfig } from './settings/transfer-config.ts'

export type AskTransfersDeps = {
  calls: Pick<CallStore, 'find'>
  transfers: TransferStore
  numbers: Pick<CallableNumbers, 'outboundFor'>
  credit: Pick<Credit, 'refusal'>
  /** Transfers for this process's calls. */
  live: LiveTransfers
  commands: Pick<CallCommands, 'send'>
  /** This process's name. */
  ownerId: string
  rules: TransferRules
}

export type TransferProgress = {
  /** After a start request, the newest attempt. After another request, the attempt in the request. */
  transfer: Transfer
  /** The transfer's attempts so far, oldest first. */
  attempts: readonly Transfer[]
  /** The attempt begun by a cancel request. Null if it began no attempt. */
  next: Transfer | null
  fallback: Transfer['fallback']
}

/** A method that refuses a request rejects with ResourceFault or Fault. */
export class AskTransfers {
  readonly #deps: AskTransfersDeps

  constructor(deps: AskTransfersDeps) {
    this.#deps = deps
  }

  blind(caller: Caller, callId: string, request: BlindRequest): Promise<TransferProgress> {
    return this.#start(caller, callId, readBlind(request, this.#deps.rules))
  }

  warm(caller: Caller, callId: string, request: WarmRequest): Promise<TransferProgress> {
    return this.#start(caller, callId, readWarm(request, this.#deps.rules))
  }

  /**
   * Transfers a call for its agent. This process must hold the call. Resolves with the last attempt after the transfer
   * has succeeded or failed. Resolves with null if no destination has this label.
   */
  async byAgent(caller: Caller, callId: string, config: TransferConfig, label: unknown): Promise<Transfer | null> {
    const { live, transfers, rules } = this.#deps
    const tenant = tenantOf(caller)
    const read = readTransferConfig(config, label, rules)
    if (read === null) return null
    await this.#start(caller, callId, read).catch((err: unknown) => {
      const isRefusedByLine = err instanceof ResourceFault && err.data.kind === 'not_dialed'
      if (!isRefusedByLine) throw err
    })
    await live.decided(tenant, callId)
    return requireResource((await transfers.list(tenant, callId)).at(-1) ?? null)
  }

  async complete(
    caller: Caller,
    callId: string,
    transferId: string,
    request: TransferCompleteRequest,
  ): Promise<TransferProgress> {
    const { call, transfer } = await this.#find(caller, callId, transferId)
    const { kind, status } = transfer
    const isConnected = kind === 'warm' && (status === 'bridging' || status === 'completed')
    if (!isConnected) return this.#run(call, { action: 'complete', transferId, ...request })
    // The attempt is already connected, so this succeeds even if no process holds the call any more.
    if (![null, transfer.recipientIdentity].includes(request.recipientIdentity)) throw otherRecipient()
    const all = await this.#deps.transfers.list(call, callId)
    return this.#progress(call, { transferId, attemptIds: attemptIdsOf(all, transferId), nextId: null })
  }

  async cancel(
    caller: Caller,
    callId: string,
    transferId: string,
    request: TransferCancelRequest,
  ): Promise<TransferProgress> {
    const { call } = await this.#find(caller, callId, transferId)
    return this.#run(call, { action: 'cancel', transferId, wanted: request })
  }

  async #start(caller: Caller, callId: string, read: ReadTransfer): Promise<TransferProgress> {
    const { calls } = this.#deps
    const call = requireResource(await calls.find(tenantOf(caller), callId), 'call')
    const { from: fromNumber, participantIdentity, ...rest } = read
    if (participantIdentity !== null && participantIdentity !== call.identity)
      throw invalid('participantIdentity', 'identity_not_of_caller')
    const number = await this.#numberFor(call, fromNumber)
    if (call.phone === null) throw new ResourceFault({ kind: 'transfer_unsupported' })
    if (call.status === 'transferring') throw new ResourceFault({ kind: 'transfer_in_progress' })
    if (call.status !== 'in_progress') throw new ResourceFault({ kind: 'call_not_live' })
    await requireCredit(this.#deps, caller)
    const settings: TransferSettings = { ...rest, ...number }
    return this.#run(call, { action: 'start', wanted: settings })
  }

  /**
   * Chooses the number shown to a recipient. The call's process checks the number further: it refuses a carrier's
   * number for a call over a SIP trunk, and a trunk's number for a call over a carrier.
   */
  async #numberFor(
    call: Call,
    fromNumber: string | null,
  ): Promise<Pick<TransferSettings, 'from' | 'isNumberOfCall' | 'outboundTrunkId'>> {
    const { numbers } = this.#deps
    const { phone } = call
    const own = (phone?.direction === 'outbound' ? phone.from : phone?.to) ?? ''
    const ofCall = { from: own, isNumberOfCall: true, outboundTrunkId: null }
    if (fromNumber === null) return ofCall
    // Any number is accepted here, because only the call's process can check if its phone line supports the number.
    const number = await numbers.outboundFor(call, null, fromNumber, () => true)
    if (number === 'not_ready') throw new ResourceFault({ kind: 'number_not_ready' })
    if (number === 'none' || number === 'not_own') throw invalid('from', 'number_missing')
    if (number.e164 === own) return ofCall
    return { from: number.e164, isNumberOfCall: false, outboundTrunkId: number.connectionId }
  }

  async #find(caller: Caller, callId: string, transferId: string): Promise<{ call: Call; transfer: Transfer }> {
    const { calls, transfers } = this.#deps
    const tenant = tenantOf(caller)
    const call = requireResource(await calls.find(tenant, callId), 'call')
    return { call, transfer: requireResource(await transfers.find(tenant, callId, transferId), 'transfer') }
  }

  async #run(call: Call, command: TransferCommand): Promise<TransferProgress> {
    const answer = await this.#answerOf(call, command)
    if ('refused' in answer) throw await this.#refusal(call, command, answer)
    return afterSending(this.#progress(call, answer))
  }

  async #answerOf(call: Call, command: TransferCommand): Promise<TransferAnswer> {
    const { live, commands, ownerId } = this.#deps
    const tenant: Tenant = { organizationId: call.organizationId, test: call.test }
    // The row of an ended call still names its process, but the process may no longer exist.
    if (isTerminal(call.status) || call.ownerId === null) return { refused: 'call_not_live' }
    if (call.ownerId === ownerId) return live.command(tenant, call.id, command)
    // If the database becomes unreachable now, the call's process may have the command all the same.
    const reply = await afterSending(commands.send(tenant, call.id, call.ownerId, { kind: 'transfer', command }))
    if (reply === null) throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1 })
    const { answer } = reply
    if (answer === null || 'isHere' in answer)
      throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1, isKeySpent: true })
    return answer
  }

  async #refusal(call: Call, command: TransferCommand, answer: Extract<TransferAnswer, { refused: string }>) {
    const { refused } = answer
    switch (refused) {
      case 'not_dialed':
        return new ResourceFault({ kind: 'not_dialed', why: answer.why, sessionId: call.id })
      case 'recipient_mismatch':
        return otherRecipient()
      case 'number_of_other_line':
        return invalid('from', refused)
      case 'state_conflict':
        return new ResourceFault({ kind: 'transfer_state_conflict', status: answer.status })
      case 'not_found':
        return this.#conflictOf(call, command)
      case 'call_not_live':
        if (command.action !== 'start') return this.#conflictOf(call, command)
        return new ResourceFault({ kind: refused, ...(answer.isEnding && { because: 'ending' }) })
      case 'transfer_in_progress':
        return new ResourceFault({ kind: refused, ...(answer.isConnected && { isConnected: true }) })
      case 'transfer_unsupported':
        return new ResourceFault({ kind: refused })
    }
  }

  /** Makes the fault for an unknown attempt: it belongs to an earlier transfer or to an ended call. */
  async #conflictOf(call: Call, command: TransferCommand): Promise<ResourceFault> {
    if (command.action === 'start') return new ResourceFault({ kind: 'not_found' })
    const transfer = requireResource(await this.#deps.transfers.find(call, call.id, command.transferId))
    return new ResourceFault({ kind: 'transfer_state_conflict', status: transfer.status })
  }

  async #progress(call: Call, { transferId, attemptIds, nextId }: TransferDone): Promise<TransferProgress> {
    const all = await this.#deps.transfers.list(call, call.id)
    const attempts = all.filter(({ id }) => attemptIds.includes(id))
    const transfer = requireResource(attempts.find(({ id }) => id === transferId) ?? null)
    const next = attempts.find(({ id }) => id === nextId) ?? null
    return { transfer, attempts, next, fallback: attempts.at(-1)?.fallback ?? null }
  }
}

/**
 * Selects the attempts of one transfer. A call may have had several transfers. Each transfer ends with an attempt with
 * a fallback, so all attempts since the previous fallback belong to one transfer.
 */
function attemptIdsOf(all: readonly Transfer[], transferId: string): string[] {
  const until = all.findIndex(({ id }) => id === transferId)
  const from = all.slice(0, until).findLastIndex(({ fallback }) => fallback !== null) + 1
  return all.slice(from, until + 1).map(({ id }) => id)
}

const otherRecipient = () => invalid('recipientParticipantIdentity', 'identity_not_of_recipient')

function invalid(
  field: string,
  kind: 'number_missing' | 'number_of_other_line' | 'identity_not_of_caller' | 'identity_not_of_recipient',
): ResourceFault {
  return new ResourceFault({ kind: 'invalid', issues: [{ path: [field], problem: { kind } }] })
}
