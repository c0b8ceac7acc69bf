/** Runs transfers for this process's phone calls. */
import type { PhoneCalls } from '../phone/phone-calls.ts'
import type { Tenant } from '../records/organization.ts'
import type { LiveTransfers, TransferAnswer, TransferCommand, TransferSettings } from '../records/transfer.ts'
import { LiveTransfer, type LiveTransferDeps } from './live-transfer.ts'

export type CallTransfersDeps = Omit<LiveTransferDeps, 'legHolders'> & {
  phones: Pick<PhoneCalls, 'find' | 'hold' | 'release'>
}

type Phone = NonNullable<ReturnType<CallTransfersDeps['phones']['find']>>

export class CallTransfers implements LiveTransfers {
  readonly #deps: LiveTransferDeps
  readonly #phones: CallTransfersDeps['phones']
  /** Each call's newest transfer. */
  readonly #newest = new WeakMap<Phone, LiveTransfer>()

  constructor({ phones, ...deps }: CallTransfersDeps) {
    this.#deps = { ...deps, legHolders: phones }
    this.#phones = phones
  }

  async command(tenant: Tenant, callId: string, command: TransferCommand): Promise<TransferAnswer> {
    const phone = this.#phones.find(tenant, callId)
    if (phone === null || phone.isOver) return { refused: 'call_not_live' }
    const answer = await this.#answer(phone, command)
    await phone.record.stored()
    return answer
  }

  async decided(tenant: Tenant, callId: string): Promise<void> {
    const phone = this.#phones.find(tenant, callId)
    if (phone === null) return
    await this.#newest.get(phone)?.untilDecided()
    await phone.record.stored()
  }

  async #answer(phone: Phone, command: TransferCommand): Promise<TransferAnswer> {
    if (command.action === 'start') return this.#start(phone, command.wanted)
    const transfer = this.#newest.get(phone)
    const { transferId } = command
    const status = transfer?.statusOf(transferId) ?? null
    if (transfer === undefined || status === null) return { refused: 'not_found' }
    const isOther =
      command.action === 'complete' && ![null, `transfer_${transferId}`].includes(command.recipientIdentity)
    if (isOther) return { refused: 'recipient_mismatch' }
    const done =
      command.action === 'complete'
        ? transfer.complete(transferId, command.summary ?? null)
        : await transfer.cancel(transferId, command.wanted)
    return done ?? { refused: 'state_conflict', status }
  }

  async #start(phone: Phone, settings: TransferSettings): Promise<TransferAnswer> {
    const { conversation } = phone
    // The recipient's leg must use the same carrier or trunk as the caller's leg, because the carrier or trunk connects
    // both legs. A number on another trunk is possible, but a trunk and a carrier cannot connect each other's legs.
    const connectionId = phone.leg.connectionId ?? null
    if (!settings.isNumberOfCall && (settings.outboundTrunkId === null) !== (connectionId === null))
      return { refused: 'number_of_other_line' }
    const newest = this.#newest.get(phone)
    if (newest?.isOpen) return { refused: 'transfer_in_progress', ...(newest.isConnected && { isConnected: true }) }
    if (conversation === null) return { refused: 'call_not_live' }
    // The conversation is saying its last words, for example a voicemail message. It would not put the caller on hold,
    // and the call's status could not return to the status needed for its end.
    if (conversation.isEnding) return { refused: 'call_not_live', isEnding: true }
    const outboundTrunkId = settings.isNumberOfCall ? connectionId : settings.outboundTrunkId
    const transfer = new LiveTransfer(this.#deps, phone, conversation, { ...settings, outboundTrunkId })
    this.#newest.set(phone, transfer)
    const done = await transfer.begin()
    const why = settings.kind === 'blind' ? transfer.notDialed : null
    return why === null ? done : { refused: 'not_dialed', why }
  }
}
