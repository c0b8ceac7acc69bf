/**
 * Ends the legs left by a dead process. Their far ends wait for a BYE in the dialog or a CANCEL for the INVITE. So each
 * dialog is stored as soon as it is confirmed, and each INVITE at its first response. If the process dies in the
 * milliseconds before this write, the far end must end the leg itself.
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

type StoredEnd = {
  keptAtMs: number
  /** The connection with the login for the BYE. Null if the leg has no connection. */
  connectionId: string | null
} & ({ dialog: DialogStart } | { invite: SentInvite })

/**
 * Added to the stored sequence number, because the dead process may have used higher numbers: each REFER, OPTIONS and
 * login increases the number.
 */
const cseqMargin = 1_000
/**
 * The longest wait for a response. The transaction repeats the request for 32 s, but the leg counts as over after this
 * time.
 */
const answerMs = 5_000

export class LeftLegs {
  readonly #deps: LeftLegsDeps
  /** The newest write for each leg. */
  readonly #writes = new WeakMap<TrunkLeg, Promise<void>>()

  constructor(deps: LeftLegsDeps) {
    this.#deps = deps
  }

  /** Stores the leg's dialog or INVITE. Returns at once, because a call must not wait for the database. */
  keep(leg: TrunkLeg, connectionId: string | null): void {
    const { dialogs, clock, log } = this.#deps
    const { legId, carrierLegId, dialog, sentInvite } = leg
    const end = dialog !== null ? { dialog: dialog.now() } : sentInvite !== null ? { invite: sentInvite } : null
    if (end === null || leg.isOver) return
    const stored: StoredEnd = { keptAtMs: clock.nowMs(), connectionId, ...end }
    const text = JSON.stringify(stored)
    if (Buffer.byteLength(text) > dialogBytesMax)
      return log.warn({ legId }, 'the names of a dialog of a trunk are too long to be stored')
    // A leg's writes are done in order, so that its INVITE cannot overwrite the later dialog.
    const before = this.#writes.get(leg) ?? Promise.resolve()
    const write = () => dialogs.keep({ legId, carrierLegId }, text)
    const failed = (err: unknown) => log.warn({ err, legId }, 'the dialog of a leg over a trunk was not stored')
    this.#writes.set(leg, before.then(write).catch(failed))
  }

  /**
   * Sends BYE or CANCEL. Resolves when the far end answers, but after 5 s at the latest. Rejects with PhoneLineError.
   */
  async hangUp({ legId, carrierLegId }: LegRef): Promise<void> {
    const { dialogs, log } = this.#deps
    const text = await dialogs.find(carrierLegId).catch(unreachable)
    if (text === null) return log.warn({ legId }, 'a leg over a trunk has no dialog that could be ended')
    const stored = JSON.parse(text) as StoredEnd
    const connection = await this.#connectionOf(stored)
    const [method, code] =
      'dialog' in stored
        ? (['BYE', await this.#bye(stored.dialog, stored.keptAtMs, connection)] as const)
        : (['CANCEL', await this.#cancel(stored.invite, stored.keptAtMs, connection)] as const)
    if (code === null) log.warn({ legId }, `the ${method} for a leg of a dead process was not answered`)
    else log.info({ legId, code }, `the ${method} for a leg of a dead process was answered`)
  }

  async #connectionOf({ connectionId }: StoredEnd): Promise<SipConnection | null> {
    return connectionId === null ? null : await this.#deps.connections.find(connectionId).catch(unreachable)
  }

  /** Sends BYE. Returns the response's code, or null if no response arrived in time. */
  #bye(start: DialogStart, storedAtMs: number, connection: SipConnection | null): Promise<number | null> {
    const { transactions, clock } = this.#deps
    // The elapsed seconds are added, so that a second BYE after a failed first BYE has a higher sequence number.
    const localCseq = start.localCseq + cseqMargin + Math.max(0, Math.floor((clock.nowMs() - storedAtMs) / 1000))
    const dialog = new Dialog({ ...start, peer: reachable(start), localCseq })
    const deps = { transactions, credentials: credentialsOf(connection) }
    return this.#lastAnswer((handlers) => sendInDialog(deps, dialog, { method: 'BYE' }, handlers))
  }

  /** Sends CANCEL. Returns the code of the INVITE's last response, or null if no response arrived in time. */
  #cancel(invite: SentInvite, storedAtMs: number, connection: SipConnection | null): Promise<number | null> {
    const { transactions } = this.#deps
    const { draft, localTag, peer, contact } = invite
    let isAnswered = false
    return this.#lastAnswer((handlers) => {
      const response = (answer: SipResponse) => {
        handlers.response(answer)
        if (answer.code < 200 || answer.code >= 300) return
        // The person answered before the CANCEL arrived, so the call needs a BYE. Each repeated 200 response needs an
        // ACK.
        const dialog = Dialog.ofResponse(answer, draft, localTag, peer, contact)
        transactions.acknowledge(dialog.ack(answer.cseq.number), peer)
        if (!isAnswered) void this.#bye(dialog.start, storedAtMs, connection)
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
 * Returns the address for the BYE. The dead process's TCP connections are closed. If the other side had opened its
 * connection, no server listens at its source port. So the port comes from the other side's Contact or from the first
 * proxy. The address stays the call's source address.
 */
function reachable({ peer, target, routes, isOurs }: DialogStart): Peer {
  if (peer.transport === 'udp' || isOurs) return peer
  const uri = sipUriOf(addressOf(routes[0] ?? '')?.uri ?? target)
  return { ...peer, port: uri?.port ?? sipPort }
}

const unreachable = (cause: unknown): never => {
  throw new PhoneLineError('unreachable', { cause })
}
