/** Asks the other side of each connection every minute whether it answers (OPTIONS). */
import type { SipConnection, SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { uniqueId } from '../../runtime/clock.ts'
import { hostText, type Peer } from './address.ts'
import type { Transactions } from './transactions.ts'

export type ProbesDeps = {
  connections: SipConnections
  transactions: Transactions
  publicAddress: string
  clock: Clock
  log: Log
  /** Null: the host has no address that may be called. */
  resolve: (connection: SipConnection) => Promise<Peer | null>
}

const everyMs = 60_000

export class Probes {
  readonly #deps: ProbesDeps
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
    const connections = await this.#deps.connections.outgoing()
    await Promise.all(connections.map((connection) => this.#ask(connection)))
  }

  async #ask(connection: SipConnection): Promise<void> {
    const { connections, transactions, publicAddress, resolve } = this.#deps
    const host = connection.outbound?.host
    const peer = await resolve(connection)
    if (host === undefined || peer === null) return connections.looked(connection.id, false)
    const uri = `sip:${hostText(host)}:${peer.port}`
    const hasAnswered = await new Promise<boolean>((resolveAnswer) => {
      const headers = [
        ['from', `<sip:parley@${hostText(publicAddress)}>;tag=${uniqueId()}`],
        ['to', `<${uri}>`],
        ['call-id', uniqueId()],
        ['cseq', '1 OPTIONS'],
      ] as const
      transactions.request({ method: 'OPTIONS', uri, headers }, peer, {
        // Any answer but a refusal of the server shows that calls find somebody there.
        response: ({ code }) => code >= 200 && resolveAnswer(code < 500),
        timeout: () => resolveAnswer(false),
      })
    })
    await connections.looked(connection.id, hasAnswered)
  }
}
