/** Sends OPTIONS to check if trunks answer: each minute to every trunk without a registration, and on request. */
import { isDeepStrictEqual } from 'node:util'
import type { SipConnection, SipConnections, SipOutbound, TrunkCheck } from '../../domain/ports/sip-connections.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { Peer } from './address.ts'
import { OptionsRequest } from './options-request.ts'
import type { Transactions } from './transactions.ts'
import { saysOptions } from './trunk-answers.ts'

export type ProbesDeps = {
  connections: SipConnections
  transactions: Transactions
  publicAddress: string
  clock: Clock
  log: Log
  /** Resolves the trunk's address. Rejects if the host has no permitted address. */
  peerOf: (connection: SipConnection) => Promise<Peer>
}

const everyMs = 60_000
/** A person waits for a check, so it ends before the request's own limit, 32 s. */
const checkMs = 5_000

export class Probes {
  readonly #deps: ProbesDeps
  /** The checks under way, by connection. */
  readonly #checks = new Map<string, { outbound: SipOutbound; result: Promise<TrunkCheck> }>()
  #cancel = () => {}
  #isClosed = false

  constructor(deps: ProbesDeps) {
    this.#deps = deps
    this.#later()
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
  }

  /**
   * Sends OPTIONS now. While a check of the connection is under way, its result is used, so that a trunk gets one
   * request at a time. If the connection has changed since, another check begins.
   */
  check(connection: SipConnection, outbound: SipOutbound): Promise<TrunkCheck> {
    const { id } = connection
    const underWay = this.#checks.get(id)
    if (underWay !== undefined && isDeepStrictEqual(underWay.outbound, outbound)) return underWay.result
    const result = this.#check(connection, outbound).finally(() => {
      if (this.#checks.get(id)?.result === result) this.#checks.delete(id)
    })
    this.#checks.set(id, { outbound, result })
    return result
  }

  /**
   * Notes only an answer of the trunk. No answer is not noted, because a slow trunk may answer after a check has ended,
   * and this server's own port may be closed. If the trunk has a registration, its answer is not noted either, because
   * many such trunks ignore OPTIONS.
   */
  async #check(connection: SipConnection, { register }: SipOutbound): Promise<TrunkCheck> {
    const { connections } = this.#deps
    const answer = await this.#answerInTime(connection)
    const takesCalls = answer.error === null ? saysOptions(answer.sipCode) : null
    if (takesCalls !== null && !register) await connections.noteAnswer(connection.id, takesCalls)
    return takesCalls === false ? { ...answer, error: 'refused' } : answer
  }

  async #answerInTime(connection: SipConnection): Promise<TrunkCheck> {
    const request = new OptionsRequest(this.#deps, connection)
    let cancel = () => {}
    const timeout = new Promise<TrunkCheck>((resolve) => {
      cancel = this.#deps.clock.after(checkMs, () => resolve({ ...noAnswer, error: 'timeout' }))
    })
    try {
      return await Promise.race([this.#answer(connection, request), timeout])
    } finally {
      cancel()
      request.end()
    }
  }

  async #answer(connection: SipConnection, request: OptionsRequest): Promise<TrunkCheck> {
    const { clock, peerOf } = this.#deps
    try {
      const peer = await peerOf(connection)
      const beganMs = clock.monotonicMs()
      const sipCode = await request.send(peer)
      return sipCode === null
        ? { ...noAnswer, error: 'timeout' }
        : { sipCode, roundTripMs: clock.monotonicMs() - beganMs, error: null }
    } catch (error) {
      return { ...noAnswer, error: isUnresolved(error) ? 'dns' : 'unreachable' }
    }
  }

  #later(): void {
    if (this.#isClosed) return
    this.#cancel = this.#deps.clock.after(everyMs, () => {
      this.#later()
      void this.#all().catch((err: unknown) =>
        this.#deps.log.warn({ err }, 'trunks could not be asked whether they answer'),
      )
    })
  }

  async #all(): Promise<void> {
    const connections = await this.#deps.connections.probed()
    await Promise.all(connections.map((connection) => this.#ask(connection)))
  }

  async #ask(connection: SipConnection): Promise<void> {
    const { connections, peerOf } = this.#deps
    const peer = await peerOf(connection).catch(() => null)
    if (peer === null) return connections.noteAnswer(connection.id, false)
    const takesCalls = saysOptions(await new OptionsRequest(this.#deps, connection).send(peer))
    if (takesCalls !== null) await connections.noteAnswer(connection.id, takesCalls)
  }
}

const noAnswer = { sipCode: null, roundTripMs: null } as const

/** True if the resolver found no address, as opposed to an address that this server may not call. */
function isUnresolved(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined
  return cause?.syscall === 'getaddrinfo'
}
