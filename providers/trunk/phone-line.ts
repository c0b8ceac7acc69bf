/**
 * SIP trunks: our side of SIP over UDP and TCP, for calls in both directions. Only one process runs this code, because
 * a call is bound to the socket it arrived on.
 */
import {
  type LegEvent,
  type LegRef,
  type LegToDial,
  type MediaEndpoint,
  type PhoneLine,
  PhoneLineError,
  type RejectCode,
} from '../../domain/ports/phone-line.ts'
import type { SipConnection, TrunkCheck } from '../../domain/ports/sip-connections.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { hostText, type Peer } from './address.ts'
import { Admission } from './admission.ts'
import type { OpenedLeg } from './awaited-legs.ts'
import { contactUser } from './dialed.ts'
import { DialogSources } from './dialog-sources.ts'
import { credentialsOf } from './digest.ts'
import { InboundLeg, offerIn } from './inbound-leg.ts'
import { LeftLegs } from './left-legs.ts'
import { allowedMethods, type LegDeps, type TrunkLeg } from './leg.ts'
import { LegAudio } from './leg-audio.ts'
import type { TrunkOptions } from './line-options.ts'
import { type SipRequest, valuesOf } from './message.ts'
import { OutboundLeg } from './outbound-leg.ts'
import { Probes } from './probes.ts'
import { ReferredLeg } from './referred-leg.ts'
import { Registrations } from './registrations.ts'
import type { ServerTransaction } from './server-transaction.ts'
import { Transactions } from './transactions.ts'
import { SipTransport } from './transport.ts'

/** Receives the events of all legs. */
export type ReceiveLegEvent = (event: LegEvent) => Promise<void>

export async function openTrunkLine({
  received,
  ...options
}: TrunkOptions & { received: ReceiveLegEvent }): Promise<TrunkLine> {
  const line = new TrunkLine(options)
  await line.open(received)
  return line
}

export class TrunkLine implements PhoneLine {
  readonly name = 'trunk'
  readonly #options: TrunkOptions
  readonly #admission: Admission
  readonly #transactions: Transactions
  readonly #probes: Probes
  readonly #registrations: Registrations
  readonly #left: LeftLegs
  readonly #sources: DialogSources
  /** Every `carrierLegId` made by this process begins with this prefix. */
  readonly #process = `${uniqueId()}.`
  readonly #legs = new Map<string, TrunkLeg>()
  /** The open transport. Null before SIP is started and after it is closed. */
  #opened: { transport: SipTransport; received: ReceiveLegEvent } | null = null

  constructor(options: TrunkOptions) {
    const { connections, dialogs, clock, owners, publicAddress, log, limits } = options
    this.#sources = new DialogSources({ connections, resolve: options.resolve, log, owners, limits })
    this.#options = options
    const registered = (address: string) => this.#registrations.at(address)
    this.#admission = new Admission({ connections, clock, owners, limits }, registered)
    this.#transactions = new Transactions({
      clock,
      publicAddress,
      transactionsMax: limits.transactionsMax,
      transport: () => this.#sockets(),
      requested: (transaction, size) => {
        this.#requested(transaction, size).catch((err: unknown) => {
          log.error({ err, transport: transaction.source.transport }, 'a request of a trunk could not be handled')
          transaction.end()
        })
      },
      acknowledged: (request, source) => void this.#acknowledged(request, source),
      cancelled: (transaction) => this.#inboundOf(transaction)?.cancelled(),
    })
    const transactions = this.#transactions
    this.#left = new LeftLegs({ dialogs, connections, transactions, clock, log })
    const peerOf = (connection: SipConnection) => this.#peerOf(connection)
    this.#probes = new Probes({ connections, transactions, publicAddress, clock, log, peerOf })
    const resolve = (connection: SipConnection) => peerOf(connection).catch(() => null)
    const contact = (peer: Peer, user: string) => this.#contact(peer, user)
    this.#registrations = new Registrations({ connections, transactions, clock, log, resolve, contact })
  }

  async open(received: ReceiveLegEvent): Promise<void> {
    const { host, port, clock, log, limits } = this.#options
    const transport = await SipTransport.open({
      host,
      port,
      clock,
      log,
      limits,
      isKnown: (address) => this.#admission.isKnown(address),
      received: (message, peer, size) => this.#transactions.received(message, peer, size),
    })
    this.#opened = { transport, received }
    this.#registrations.open()
  }

  /** The UDP and TCP port for SIP. */
  get port(): number {
    return this.#sockets().port
  }

  /** Sends OPTIONS to a connection's trunk now. Resolves with null if there is no such connection. */
  async check(id: string): Promise<TrunkCheck | null> {
    const connection = await this.#options.connections.find(id)
    return connection?.outbound ? this.#probes.check(connection, connection.outbound) : null
  }

  async dial(leg: LegToDial, signal: CancelSignal): Promise<{ carrierLegId: string }> {
    if (leg.transferee !== undefined) return this.#refer(leg, leg.transferee, signal)
    const connection = leg.connectionId === undefined ? null : await this.#options.connections.find(leg.connectionId)
    const outbound = connection?.outbound ?? null
    if (connection === null || outbound === null || leg.media === null) throw new PhoneLineError('refused')
    // Our own limit is reached. Dialling again later can succeed, so the error is not `refused`.
    if (this.#isFull(connection)) throw new PhoneLineError('unreachable')
    const peer = await this.#peerOf(connection)
    const opened = this.#open(leg.legId, leg.media)
    const { publicAddress, rtp, clock } = this.#options
    let made: OutboundLeg | null = null
    const dtmf = (digit: string) => made?.pressed(digit)
    const port = await rtp.open({ ...opened, signalingAddress: peer.address, dtmf }).catch((cause: unknown) => {
      throw new PhoneLineError('unreachable', { cause })
    })
    const audio = new LegAudio(port, { address: publicAddress, port: port.port, id: clock.nowMs() })
    const target = { peer, host: outbound.host }
    const noteAnswer = (takesCalls: boolean) => this.#noteAnswer(connection, takesCalls)
    const deps = { ...this.#legDeps(connection), contact: this.#contact(peer), target, noteAnswer }
    const call = new OutboundLeg(deps, leg, audio)
    made = call
    this.#legs.set(call.carrierLegId, call)
    await hungUpAtAbort(call, signal)
    return { carrierLegId: call.carrierLegId }
  }

  #noteAnswer({ id }: SipConnection, takesCalls: boolean): void {
    this.#options.connections.noteAnswer(id, takesCalls).catch((err: unknown) => {
      this.#options.log.warn({ err }, 'the answer of a trunk to a call was not noted')
    })
  }

  async #refer(leg: LegToDial, transferee: LegRef, signal: CancelSignal): Promise<{ carrierLegId: string }> {
    const caller = this.#legs.get(transferee.carrierLegId)
    if (caller === undefined) throw new PhoneLineError('refused', { isGone: true })
    const call = new ReferredLeg(this.#legDeps(null), caller, leg)
    if (!call.isOver) this.#legs.set(call.carrierLegId, call)
    await hungUpAtAbort(call, signal)
    return { carrierLegId: call.carrierLegId }
  }

  async answer(ref: LegRef, media: MediaEndpoint): Promise<void> {
    const leg = this.#named(ref)
    if (!(leg instanceof InboundLeg)) throw new PhoneLineError('refused', { isGone: leg === null })
    const opened = this.#open(ref.legId, media)
    try {
      await leg.answer(opened)
    } catch (cause) {
      throw new PhoneLineError('unreachable', { cause })
    }
  }

  reject(ref: LegRef, sipCode: RejectCode): Promise<void> {
    const leg = this.#named(ref)
    if (leg instanceof InboundLeg) leg.reject(sipCode)
    return Promise.resolve()
  }

  async hangUp(ref: LegRef): Promise<void> {
    const leg = this.#named(ref)
    if (leg !== null) return leg.hangUp()
    // If this process made the leg but no longer has it, the leg is over. A leg left by another process may still be
    // open at its far end.
    if (ref.carrierLegId.startsWith(this.#process)) return
    this.#sockets()
    await this.#left.hangUp(ref)
  }

  /**
   * Connects both legs' audio through this process. If the caller's far end made the other call itself (REFER), the
   * parties already talk without us, so our leg to the caller ends.
   */
  async bridge(ref: LegRef, other: LegRef): Promise<void> {
    const [leg, second] = [this.#named(ref), this.#named(other)]
    if (leg === null || second === null) throw new PhoneLineError('refused', { isGone: true })
    if (!(second instanceof ReferredLeg)) {
      if (!leg.connect(second)) throw new PhoneLineError('refused')
      return
    }
    if (!second.isAnswered) throw new PhoneLineError('refused')
    await second.connected()
    leg.hangUp()
  }

  sendDtmf(ref: LegRef, digits: string): Promise<void> {
    const leg = this.#named(ref)
    if (leg?.sendDtmf(digits) === true) return Promise.resolve()
    return Promise.reject(new PhoneLineError('refused', { isGone: leg === null }))
  }

  isAlive({ carrierLegId }: LegRef): Promise<boolean> {
    return Promise.resolve(this.#legs.has(carrierLegId))
  }

  /**
   * Always returns null. The caller of `find` does not know the leg's `carrierLegId`. A trunk leg's `carrierLegId` and
   * dialog are stored together, and without the dialog the far end cannot be sent a request.
   */
  find(): Promise<null> {
    return Promise.resolve(null)
  }

  /** Ends all calls. */
  async close(): Promise<void> {
    this.#probes.close()
    this.#registrations.close()
    for (const leg of this.#legs.values()) leg.hangUp()
    this.#transactions.close()
    const opened = this.#opened
    this.#opened = null
    await opened?.transport.close()
  }

  async #requested(transaction: ServerTransaction, size: number): Promise<void> {
    const { request, source } = transaction
    const leg = this.#legOf(request)
    if (leg !== null) {
      const isOther = this.#sources.isOf(leg, source) || (await this.#sources.isOfConnection(leg, source))
      if (isOther === 'unknown') return transaction.postpone()
      // A sender at an address unknown for this call gets the same response as for an unknown dialog, so the response
      // reveals nothing about the call.
      if (!isOther) return transaction.respondOnce(481, [], size)
      this.#sockets().noteKnown(source, leg.organizationId ?? '')
      const isKept = transaction.keep(leg.organizationId ?? '')
      // If the transaction table is full, only an INVITE must be postponed, because its response has to be repeated
      // until the ACK.
      return isKept || request.method !== 'INVITE' ? leg.request(transaction) : transaction.postpone()
    }
    // The dialog is over or never existed. Any sender may receive this response, so the sender is not checked.
    if (request.to.tag !== null) return transaction.respondOnce(481, [], size)
    try {
      await this.#admission.admit(transaction, size, async (connection) => {
        this.#sockets().noteKnown(source, connection.organizationId)
        await this.#admitted(transaction, connection)
      })
    } catch (cause) {
      // The lookup failed, so the sender is not known and gets one short response.
      transaction.respondOnce(500, [], size)
      throw cause
    }
  }

  async #acknowledged(request: SipRequest, source: Peer): Promise<void> {
    const leg = this.#legOf(request)
    if (leg === null) return
    if (this.#sources.isOf(leg, source) || (await this.#sources.isOfConnection(leg, source)) === true)
      leg.acknowledged(request)
  }

  async #admitted(transaction: ServerTransaction, connection: SipConnection): Promise<void> {
    const { request } = transaction
    const required = valuesOf(request.headers, 'require')
    if (required.length > 0) return transaction.respond(420, { headers: [['unsupported', required.join(', ')]] })
    if (request.method === 'OPTIONS') return transaction.respond(200, { toTag: 'options', headers: [allowedMethods] })
    if (request.method === 'REFER') return transaction.respond(603)
    if (request.method !== 'INVITE') return transaction.respond(405, { headers: [allowedMethods] })
    // The caller sent a CANCEL during the database lookup.
    if (transaction.isCancelled) return transaction.respond(487, { toTag: 'none' })
    if (this.#isFull(connection)) return transaction.respond(503)
    const offered = offerIn(request)
    if (offered.refusal !== null) return transaction.respond(offered.refusal.code, offered.refusal)
    if (!transaction.keep(connection.organizationId)) return transaction.postpone()
    const leg = new InboundLeg(this.#legDeps(connection), transaction, offered.offer, this.#contact(transaction.peer))
    this.#legs.set(leg.carrierLegId, leg)
    this.#options.connections.noteCall(connection.id).catch((err: unknown) => {
      this.#options.log.warn({ err }, 'the first call of a SIP connection was not noted')
    })
    await leg.announce(connection.id)
  }

  #isFull({ organizationId }: SipConnection): boolean {
    const { legsMax, legsPerOrganizationMax } = this.#options.limits
    let own = 0
    for (const leg of this.#legs.values()) if (leg.organizationId === organizationId) own++
    return this.#legs.size >= legsMax || own >= legsPerOrganizationMax
  }

  /** `connection` is null for a referred leg, because such a leg sends no requests. */
  #legDeps(connection: SipConnection | null): LegDeps {
    const { clock, log, rtp, publicAddress, limits } = this.#options
    const { received } = this.#whileOpen()
    const over = ({ carrierLegId }: TrunkLeg) => void this.#legs.delete(carrierLegId)
    const keep = (leg: TrunkLeg) => this.#left.keep(leg, connection?.id ?? null)
    const newId = () => `${this.#process}${uniqueId()}`
    const common = { clock, log, rtp, publicAddress, received, over, keep, newId, transactions: this.#transactions }
    const { farEndQuietMs } = limits
    return { ...common, farEndQuietMs, connection, credentials: credentialsOf(connection) }
  }

  #contact({ transport }: Peer, user = contactUser): string {
    const at = `${hostText(this.#options.publicAddress)}:${this.port}`
    return `<sip:${user}@${at}${transport === 'tcp' ? ';transport=tcp' : ''}>`
  }

  #open(legId: string, media: MediaEndpoint): OpenedLeg {
    const opened = this.#options.legs.open(legId, media)
    if (opened === null) throw new PhoneLineError('refused')
    return opened
  }

  #named({ legId, carrierLegId }: LegRef): TrunkLeg | null {
    const leg = this.#legs.get(carrierLegId) ?? null
    if (leg !== null) leg.legId = legId
    return leg
  }

  #legOf(request: SipRequest): TrunkLeg | null {
    if (request.to.tag === null) return null
    for (const leg of this.#legs.values()) if (leg.dialog?.isOf(request) === true) return leg
    return null
  }

  #inboundOf(transaction: ServerTransaction): InboundLeg | null {
    for (const leg of this.#legs.values()) if (leg instanceof InboundLeg && leg.invite === transaction) return leg
    return null
  }

  async #peerOf({ outbound }: SipConnection): Promise<Peer> {
    if (outbound === null) throw new PhoneLineError('unreachable')
    const [address] = await this.#options.resolve(outbound.host).catch((cause: unknown) => {
      throw new PhoneLineError('unreachable', { cause })
    })
    if (address === undefined) throw new PhoneLineError('unreachable')
    return { transport: outbound.transport, address, port: outbound.port }
  }

  #sockets(): SipTransport {
    return this.#whileOpen().transport
  }

  #whileOpen() {
    if (this.#opened === null) throw new PhoneLineError('unreachable')
    return this.#opened
  }
}

/**
 * Waits until the far end accepts the call. If the signal aborts first, the call is hung up, even if its response comes
 * much later.
 */
async function hungUpAtAbort(call: OutboundLeg | ReferredLeg, signal: CancelSignal): Promise<void> {
  const cancel = () => call.hangUp()
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  try {
    await call.dialed
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
