/**
 * The sockets on which carriers stream audio. A refusal before the WebSocket upgrade has the platform API's error body.
 */
import type { Clock } from '../../domain/ports/system.ts'
import { type CarrierHandlers, carrierSurface, widenCarrierHandlers } from '../../generated/carrier/channels.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import type { SocketMount } from '../../runtime/engine/options.ts'
import { type AdmitSocket, OwnedElsewhere } from '../../runtime/engine/socket.ts'
import { createPlatformFaultWriter } from '../platform/faults.ts'
import { Deadlines } from '../realtime/deadlines.ts'
import type { SurfaceSettings } from '../surface.ts'
import { CarrierStream } from './carrier-stream.ts'
import type { ExpectedLegs, OpenedLeg } from './expected-legs.ts'

export function mountCarrierStreams(
  { host, log, count }: SurfaceSettings,
  deps: { legs: Pick<ExpectedLegs, 'find'>; clock: Clock },
): SocketMount {
  const shared = { deadlines: new Deadlines(deps.clock), clock: deps.clock, log }
  const handlers: CarrierHandlers<OpenedLeg> = {
    carrierMedia: (socket, { caller }) => new CarrierStream(shared, socket, caller),
  }
  return {
    surface: carrierSurface,
    basePath: '',
    host,
    handlers: widenCarrierHandlers(handlers),
    admit: createAdmit(deps.legs),
    // There is no quota for each IP address, because all calls from a carrier come from a few IP addresses.
    quota: false,
    writeFault: createPlatformFaultWriter(log, count),
  }
}

/**
 * Admits a socket whose token belongs to an expected leg. The leg becomes the socket's client, in place of an API
 * client.
 */
function createAdmit(legs: Pick<ExpectedLegs, 'find'>): AdmitSocket {
  return ({ path, query, belongsTo }): OpenedLeg => {
    const opened = legs.find(path['leg'] ?? '', query.get('token') ?? '')
    if (opened === null)
      throw new Refusal('unauthenticated', {
        message: 'The token opens no leg that is expected here.',
        hint: 'The carrier connects once, to the address that it was given for this leg.',
      })
    if ('ownerId' in opened) throw new OwnedElsewhere(opened.ownerId)
    belongsTo(opened.leg.organizationId)
    return opened
  }
}
