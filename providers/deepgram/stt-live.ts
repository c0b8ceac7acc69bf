/** Live recognition. Deepgram has two protocols for it: Flux models use /v2/listen, all other models use /v1/listen. */
import type { SttStreamRequest } from '../../domain/ports/stt.ts'
import type { LiveSttVendor } from '../wire/live-stt.ts'
import type { WarmRules } from '../wire/socket.ts'
import { isFlux } from './models.ts'
import { fluxVendor } from './stt-live-flux.ts'
import { listenVendor } from './stt-live-listen.ts'

/**
 * The vendor closes a socket without audio ten seconds after its opening, even if keep-alives were sent. Only audio is
 * billed, so an idle socket costs nothing.
 */
export const warmStt: WarmRules = { keepAlive: null, idleMsMax: 8000 }

export const liveVendor = (request: SttStreamRequest): LiveSttVendor =>
  isFlux(request.model) ? fluxVendor(request) : listenVendor(request)
