/** One OPTIONS request to a trunk outside a call, repeated with the login if the trunk wants one. */
import type { SipConnection } from '../../domain/ports/sip-connections.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { hostText, type Peer } from './address.ts'
import { Authentication } from './authentication.ts'
import type { ClientTransaction } from './client-transaction.ts'
import { credentialsOf } from './digest.ts'
import type { Header } from './message.ts'
import type { Transactions } from './transactions.ts'

export type OptionsDeps = { transactions: Transactions; publicAddress: string }

export class OptionsRequest {
  readonly #deps: OptionsDeps
  readonly #connection: SipConnection
  #transaction: ClientTransaction | null = null
  #isOver = false

  constructor(deps: OptionsDeps, connection: SipConnection) {
    this.#deps = deps
    this.#connection = connection
  }

  /** Resolves with the final response's code, or with null if no response arrived. */
  send(peer: Peer): Promise<number | null> {
    const { transactions, publicAddress } = this.#deps
    const uri = `sip:${hostText(this.#connection.outbound?.host ?? peer.address)}:${peer.port}`
    const [from, callId] = [`<sip:parley@${hostText(publicAddress)}>;tag=${uniqueId()}`, uniqueId()]
    const authentication = new Authentication(credentialsOf(this.#connection))
    return new Promise((resolve) => {
      const send = (number: number, more: readonly Header[]) => {
        if (this.#isOver) return
        const names: Header[] = [
          ['from', from],
          ['to', `<${uri}>`],
          ['call-id', callId],
          ['cseq', `${number} OPTIONS`],
        ]
        const draft = { method: 'OPTIONS', uri, headers: [...names, ...more] }
        this.#transaction = transactions.request(draft, peer, {
          response: (response) => {
            if (response.code < 200) return
            const login = authentication.answer(response, draft)
            if (login === null) resolve(response.code)
            else send(number + 1, [login])
          },
          timeout: () => resolve(null),
        })
      }
      send(1, [])
    })
  }

  /** Ends the request. It is not sent again, and no response is awaited. */
  end(): void {
    this.#isOver = true
    this.#transaction?.end()
  }
}
