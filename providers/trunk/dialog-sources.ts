/**
 * Decides whether a request really comes from the other side of a dialog. Call-ID and tags are secret, but they travel
 * unencrypted, so the source address is checked too. A trunk may have several addresses: if a BYE from the second
 * address were refused, the call would never end.
 */
import type { SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Log } from '../../domain/ports/system.ts'
import type { Peer } from './address.ts'
import type { TrunkLeg } from './leg.ts'

export type DialogSourcesDeps = {
  connections: Pick<SipConnections, 'hasAddress'>
  /** Looks up a host's addresses. */
  resolve: (host: string) => Promise<readonly string[]>
  log: Log
}

/** The most concurrent lookups. Requests beyond this limit are not taken now. */
const openMax = 16

export class DialogSources {
  readonly #deps: DialogSourcesDeps
  #open = 0

  constructor(deps: DialogSourcesDeps) {
    this.#deps = deps
  }

  /** True if the call began with this address. */
  isOf({ dialog }: TrunkLeg, { address }: Peer): boolean {
    return dialog?.start.peer.address === address
  }

  /**
   * True if the address is another address of the same connection: calls go out to its host, or may come in from it.
   * Returns `unknown` if the lookup failed or too many lookups run. Never rejects.
   */
  async isOfConnection({ connection }: TrunkLeg, { address }: Peer): Promise<boolean | 'unknown'> {
    if (connection === null) return false
    if (this.#open >= openMax) return 'unknown'
    this.#open++
    try {
      const { connections, resolve } = this.#deps
      if (await connections.hasAddress(connection.id, address)) return true
      return connection.outbound !== null && (await resolve(connection.outbound.host)).includes(address)
    } catch (err) {
      this.#deps.log.warn({ err }, 'the source of a request of a trunk could not be looked up')
      return 'unknown'
    } finally {
      this.#open--
    }
  }
}
