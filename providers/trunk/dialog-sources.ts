/**
 * Decides whether a request really comes from the other side of a dialog. Call-ID and tags are hard to guess, but they
 * are sent unencrypted, so the source address is checked too. A trunk may have several addresses, so not only the
 * call's first address is accepted: if a BYE from a second address were refused, the call would never end.
 */

import type { SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Log } from '../../domain/ports/system.ts'
import type { Capacity } from '../../runtime/shares/capacity.ts'
import type { Owners } from '../../runtime/shares/owners.ts'
import type { Peer } from './address.ts'
import { dividedPlaces } from './divided-places.ts'
import type { TrunkLeg } from './leg.ts'
import type { TrunkLimits } from './limits.ts'

export type DialogSourcesDeps = {
  connections: Pick<SipConnections, 'hasAddress'>
  /** Looks up a host's IP addresses. */
  resolve: (host: string) => Promise<readonly string[]>
  log: Log
  owners: Owners
  limits: Pick<TrunkLimits, 'lookupsMax'>
}

export class DialogSources {
  readonly #deps: DialogSourcesDeps
  readonly #lookups: Capacity

  constructor(deps: DialogSourcesDeps) {
    this.#deps = deps
    // The limit on these lookups is divided among organizations, like the limit on lookups for requests outside of
    // calls (see admission.ts).
    this.#lookups = dividedPlaces(deps.limits.lookupsMax, () => !deps.owners.areSeveral)
  }

  /** True if the call's first message came from or went to this address. */
  isOf({ dialog }: TrunkLeg, { address }: Peer): boolean {
    return dialog?.start.peer.address === address
  }

  /**
   * Returns true if the address belongs to the leg's connection: the connection accepts incoming calls from this
   * address, or the host for its outgoing calls has this address. Returns `unknown` if the lookup failed or too many
   * lookups of the organization run. Never rejects.
   */
  async isOfConnection({ connection }: Pick<TrunkLeg, 'connection'>, { address }: Peer): Promise<boolean | 'unknown'> {
    if (connection === null) return false
    const lookup = this.#lookups.take(connection.organizationId)
    if (lookup === null) return 'unknown'
    try {
      const { connections, resolve } = this.#deps
      if (await connections.hasAddress(connection.id, address)) return true
      return connection.outbound !== null && (await resolve(connection.outbound.host)).includes(address)
    } catch (err) {
      this.#deps.log.warn({ err }, 'the source of a request of a trunk could not be looked up')
      return 'unknown'
    } finally {
      lookup.end()
    }
  }
}
