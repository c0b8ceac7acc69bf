/** Calls of simulated people, which only a user of this machine can begin. */
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import type { SimulatedCall } from '../../generated/internal/types.ts'
import { nothingAt } from '../../runtime/http/unknown-path.ts'
import { noStore, requireLocal, requireOwnPage } from './try-access.ts'

export interface SimulatedCallers {
  /** Answers the id of the leg at the simulated carrier. Rejects when that has too many calls. */
  call(call: SimulatedCall & { from: string | null }): Promise<string>
}

const usualCaller = '+15005550006'
const path = '/simulator/calls'

/** `callers` is null on a server with a public address: a proxy in front could hide that a request is not from this machine. */
export function createSimulatedCall(
  callers: SimulatedCallers | null,
): Pick<InternalHandlers<null>, 'createSimulatedCall'> {
  return {
    async createSimulatedCall({ body }, { peer }) {
      if (callers === null) throw nothingAt(path, [])
      requireLocal(peer, path)
      // A page of another site could send a request from this machine.
      if (peer.origin !== '') requireOwnPage(peer)
      const { from = usualCaller, ...call } = body
      return { status: 201, headers: noStore, body: { carrierLegId: await callers.call({ ...call, from }) } }
    },
  }
}
