/**
 * The legs of a process that died: their far ends wait for a BYE that names the dialog, so each dialog is stored as soon as
 * it is confirmed, or for a CANCEL that names the INVITE, which is stored with the first answer to it. A process that dies
 * within the milliseconds before that leaves a leg that its far end must give up.
 */
import { dialogBytesMax, type LegDialogs } from '../../domain/ports/leg-dialogs.ts'
import { type LegRef, PhoneLineError } from '../../domain/ports/phone-line.ts'
import type { SipConnection, SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { addressOf, type Peer, sipPort, sipUriOf } from './address.ts'
import type { ResponseHandlers } from './client-transaction.ts'
import { Dialog, type DialogStart } from './dialog.ts'
import { credentialsOf } from './digest.ts'
import { sendInDialog } from './in-dialog.ts'
import type { SentInvite, TrunkLeg } from './leg.ts'
import type { SipResponse } from './message.ts'
import type { Transactions } from './transactions.ts'

export type LeftLegsDeps = {
  dialogs: LegDialogs
  connections: Pick<SipConnections, 'find'>
  transactions: Transactions
  clock: Clock
  log: Log
}

type Kept = {
  keptAtMs: number
  /** The login for the BYE is that of the connection. */
  connectionId: string | null
} & ({ dialog: DialogStart } | { invite: SentInvite })

/** The dead process may have used more numbers than the one that was stored: one for each REFER, OPTIONS and login. */
const cseqMargin = 1_000
/** A request without an answer is repeated by its transaction for 32 s, but the leg counts as over by then. */
const answerMs = 5_000

export class LeftLegs {
  readonly #deps: LeftLegsDeps
  /** The newest write of each leg. */
  readonly #writes = new WeakMap<TrunkLeg, Promise<void>>()

  constructor(deps: LeftLegsDeps) {
    this.#deps = deps
  }

  /** Without waiting, because a call must not wait for the store. */
  keep(leg: TrunkLeg, connectionId: string | null): void {
    const { dialogs, clock, log } = this.#deps
    const { legId, carrierLegId, dialog, sentInvite } = leg
    const end = dialog !== null ? { dialog: dialog.now() } : sentInvite !== null ? { invite: sentInvite } : null
    if (end === null || leg.isOver) return
    const kept: Kept = { keptAtMs: clock.nowMs(), connectionId, ...end }
    const text = JSON.stringify(kept)
    if (Buffer.byteLength(text) > dialogBytesMax)
      return log.warn({ legId }, 'the names of a dialog of a trunk are too long to be stored')
    // A dialog must not be overwritten by the INVITE before it.
    const before = this.#writes.get(leg) ?? Promise.resolve()
    const write = () => dialogs.keep({ legId, carrierLegId }, text)
    const failed = (err: unknown) => log.warn({ err, legId }, 'the dialog of a leg over a trunk was not stored')
    this.#writes.set(leg, before.then(write).catch(failed))
  }

  /** Sends BYE or CANCEL. Resolves when the far end has answered, or has not within 5 s. Rejects with PhoneLineError. */
  async hangUp({ legId, carrierLegId }: LegRef): Promise<void> {
    const { dialogs, log } = this.#deps
    const text = await dialogs.find(carrierLegId).catch(unreachable)
    if (text === null) return log.warn({ legId }, 'a leg over a trunk has no dialog that could be ended')
    const kept = JSON.parse(text) as Kept
    const connection = await this.#connectionOf(kept)
    const [method, code] =
      'dialog' in kept
        ? (['BYE', await this.#bye(kept.dialog, kept.keptAtMs, connection)] as const)
        : (['CANCEL', await this.#cancel(kept.invite, kept.keptAtMs, connection)] as const)
    if (code === null) log.warn({ legId }, `the ${method} for a leg of a dead process was not answered`)
    else log.info({ legId, code }, `the ${method} for a leg of a dead process was answered`)
  }

  async #connectionOf({ connectionId }: Kept): Promise<SipConnection | null> {
    return connectionId === null ? null : await this.#deps.connections.find(connectionId).catch(unreachable)
  }

  /** The code of the answer. Null: there was none in time. */
  #bye(start: DialogStart, keptAtMs: number, connection: SipConnection | null): Promise<number | null> {
    const { transactions, clock } = this.#deps
    // The seconds since then make the number of a later try higher than that of one before.
    const localCseq = start.localCseq + cseqMargin + Math.max(0, Math.floor((clock.nowMs() - keptAtMs) / 1000))
    const dialog = new Dialog({ ...start, peer: reachable(start), localCseq })
    const deps = { transactions, credentials: credentialsOf(connection) }
    return this.#lastAnswer((handlers) => sendInDialog(deps, dialog, { method: 'BYE' }, handlers))
  }

  /** The code of the last answer to the INVITE. Null: there was none in time. */
  #cancel(invite: SentInvite, keptAtMs: number, connection: SipConnection | null): Promise<number | null> {
    const { transactions } = this.#deps
    const { draft, localTag, peer, contact } = invite
    let isAnswered = false
    return this.#lastAnswer((handlers) => {
      const response = (answer: SipResponse) => {
        handlers.response(answer)
        if (answer.code < 200 || answer.code >= 300) return
        // The person has answered before the CANCEL came. Each repeated answer wants an ACK.
        const dialog = Dialog.ofResponse(answer, draft, localTag, peer, contact)
        transactions.acknowledge(dialog.ack(answer.cseq.number), peer)
        if (!isAnswered) void this.#bye(dialog.start, keptAtMs, connection)
        isAnswered = true
      }
      transactions.cancelSent(invite, { ...handlers, response })
    })
  }

  #lastAnswer(send: (handlers: ResponseHandlers) => void): Promise<number | null> {
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.after(answerMs, () => resolve(null))
      const response = ({ code }: { code: number }) => {
        if (code < 200) return
        cancel()
        resolve(code)
      }
      send({ response, timeout: () => resolve(null) })
    })
  }
}

/**
 * A TCP connection has died with the process. One that the other side had opened came from a port where nobody listens, so
 * the port is that in its Contact, or of the first proxy; the address stays that from which the call came.
 */
function reachable({ peer, target, routes, isOurs }: DialogStart): Peer {
  if (peer.transport === 'udp' || isOurs) return peer
  const uri = sipUriOf(addressOf(routes[0] ?? '')?.uri ?? target)
  return { ...peer, port: uri?.port ?? sipPort }
}

const unreachable = (cause: unknown): never => {
  throw new PhoneLineError('unreachable', { cause })
}
