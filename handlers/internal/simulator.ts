/**
 * Lets a user on this machine make simulated inbound calls and move the simulated carrier's clock. A request needs a
 * key as well as a loopback address. Otherwise remote users behind a local proxy without forwarding headers would pass
 * as local.
 */
import type { Caller } from '../../domain/records/organization.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import type { SimulatedCall } from '../../generated/internal/types.ts'
import { type Peer, Refusal } from '../../runtime/engine/handler.ts'
import { nothingAt } from '../../runtime/http/unknown-path.ts'
import { noStore, requireLocal, requireOwnPage } from './try-access.ts'

export interface SimulatorControl {
  /**
   * Makes a call and resolves with its leg's id at the simulated carrier. Rejects if the carrier has too many calls.
   */
  call(call: SimulatedCall & { from: string | null }): Promise<string>
  /** Moves the clock and resolves with the simulated carrier's time for reviews, in milliseconds since the epoch. */
  advance(byMs: number): Promise<number>
}

const usualCaller = '+15005550006'

/**
 * Makes the handlers. `simulator` is null on a server with a public address, because a proxy in front of the server
 * could hide a remote request.
 */
export function simulatorHandlers(
  simulator: SimulatorControl | null,
): Pick<InternalHandlers<Caller>, 'createSimulatedCall' | 'advanceSimulatorClock'> {
  return {
    async createSimulatedCall({ body }, { peer, caller }) {
      const { from = usualCaller, ...call } = body
      const control = admitted(simulator, peer, '/simulator/calls')
      const organizationId = caller.organization.id
      if (call.organizationId !== undefined && call.organizationId !== organizationId)
        throw new Refusal('forbidden', { message: 'organizationId is not the organization of this key.' })
      const carrierLegId = await control.call({ ...call, organizationId, from })
      return { status: 201, headers: noStore, body: { carrierLegId } }
    },
    async advanceSimulatorClock({ body }, { peer }) {
      const nowMs = await admitted(simulator, peer, '/simulator/clock').advance(body.advanceMs)
      return { status: 200, headers: noStore, body: { time: new Date(nowMs).toISOString() } }
    },
  }
}

function admitted(simulator: SimulatorControl | null, peer: Peer, path: string): SimulatorControl {
  if (simulator === null) throw nothingAt(path, [])
  requireLocal(peer, path)
  // Another site's page in a browser on this machine could send a request here, so only our page may.
  if (peer.origin !== '') requireOwnPage(peer)
  return simulator
}
