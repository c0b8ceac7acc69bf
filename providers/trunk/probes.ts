/** Sends OPTIONS every minute to each trunk without a registration, to check if the trunk answers. */
import type { SipConnection, SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { hostText, type Peer } from './address.ts'
import { Authentication } from './authentication.ts'
import { credentialsOf } from './digest.ts'
import type { Header } from './message.ts'
import type { Transactions } from './transactions.ts'
import { saysOptions } from './trunk-answers.ts'

export type ProbesDeps = {
  connections: SipConnections
  transactions: Transactions
  publicAddress: string
  clock: Clock
  log: Log
  /** Resolves the trunk's address, or null if the host has no permitted address. */
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
    const connections = await this.#deps.connections.probed()
    await Promise.all(connections.map((connection) => this.#ask(connection)))
  }

  async #ask(connection: SipConnection): Promise<void> {
    const { connections, transactions, publicAddress, resolve } = this.#deps
    const host = connection.outbound?.host
    const peer = await resolve(connection)
    if (host === undefined || peer === null) return connections.noteAnswer(connection.id, false)
    const uri = `sip:${hostText(host)}:${peer.port}`
    const [from, callId] = [`<sip:parley@${hostText(publicAddress)}>;tag=${uniqueId()}`, uniqueId()]
    const authentication = new Authentication(credentialsOf(connection))
    const code = await new Promise<number | null>((resolveCode) => {
      const send = (number: number, more: readonly Header[]) => {
        const names: Header[] = [
          ['from', from],
          ['to', `<${uri}>`],
          ['call-id', callId],
          ['cseq', `${number} OPTIONS`],
        ]
        const draft = { method: 'OPTIONS', uri, headers: [...names, ...more] }
        transactions.request(draft, peer, {
          response: (response) => {
            if (response.code < 200) return
            const login = authentication.answer(response, draft)
            if (login === null) resolveCode(response.code)
            else send(number + 1, [login])
          },
          timeout: () => resolveCode(null),
        })
      }
      send(1, [])
    })
    const takesCalls = saysOptions(code)
    if (takesCalls !== null) await connections.noteAnswer(connection.id, takesCalls)
  }
}
