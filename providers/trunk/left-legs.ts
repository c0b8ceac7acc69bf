/**
 * The legs of a process that died: their far ends wait for a BYE that names the dialog, so each dialog is stored as soon as
 * it is confirmed. A process that dies within the milliseconds before that leaves a leg that its far end must give up.
 */
import { dialogBytesMax, type LegDialogs } from '../../domain/ports/leg-dialogs.ts'
import { type LegRef, PhoneLineError } from '../../domain/ports/phone-line.ts'
import type { SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { addressOf, type Peer, sipPort, sipUriOf } from './address.ts'
import { Dialog, type DialogStart } from './dialog.ts'
import { credentialsOf } from './digest.ts'
import { sendInDialog } from './in-dialog.ts'
import type { TrunkLeg } from './leg.ts'
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
  dialog: DialogStart
}

/** The dead process may have used more numbers than the one that was stored: one for each REFER and login. */
const cseqMargin = 1_000
/** A BYE without an answer is repeated by its transaction for 32 s, but the leg counts as over by then. */
const byeMs = 5_000

export class LeftLegs {
  readonly #deps: LeftLegsDeps

  constructor(deps: LeftLegsDeps) {
    this.#deps = deps
  }

  /** Without waiting, because a call must not wait for the store. */
  keep({ legId, carrierLegId, dialog, isOver }: TrunkLeg, connectionId: string | null): void {
    const { dialogs, clock, log } = this.#deps
    if (dialog === null || isOver) return
    const kept: Kept = { keptAtMs: clock.nowMs(), connectionId, dialog: dialog.now() }
    const text = JSON.stringify(kept)
    if (Buffer.byteLength(text) > dialogBytesMax)
      return log.warn({ legId }, 'the names of a dialog of a trunk are too long to be stored')
    dialogs.keep({ legId, carrierLegId }, text).catch((err: unknown) => {
      log.warn({ err, legId }, 'the dialog of a leg over a trunk was not stored')
    })
  }

  /** Sends BYE. Resolves when it is answered, or was not within 5 s. Rejects with PhoneLineError. */
  async hangUp({ legId, carrierLegId }: LegRef): Promise<void> {
    const { dialogs, log } = this.#deps
    const text = await dialogs.find(carrierLegId).catch(unreachable)
    if (text === null) return log.warn({ legId }, 'a leg over a trunk has no dialog that could be ended')
    const code = await this.#bye(JSON.parse(text) as Kept)
    if (code === null) log.warn({ legId }, 'the BYE for a leg of a dead process was not answered')
    else log.info({ legId, code }, 'the BYE for a leg of a dead process was answered')
  }

  /** The code of the answer. Null: there was none in time. */
  async #bye({ connectionId, keptAtMs, dialog: start }: Kept): Promise<number | null> {
    const { connections, transactions, clock } = this.#deps
    const connection = connectionId === null ? null : await connections.find(connectionId).catch(unreachable)
    // The seconds since then make the number of a later try higher than that of one before.
    const localCseq = start.localCseq + cseqMargin + Math.max(0, Math.floor((clock.nowMs() - keptAtMs) / 1000))
    const dialog = new Dialog({ ...start, peer: reachable(start), localCseq })
    return new Promise((resolve) => {
      const cancel = clock.after(byeMs, () => resolve(null))
      const response = ({ code }: { code: number }) => {
        if (code < 200) return
        cancel()
        resolve(code)
      }
      const deps = { transactions, credentials: credentialsOf(connection) }
      sendInDialog(deps, dialog, { method: 'BYE' }, { response, timeout: () => resolve(null) })
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
