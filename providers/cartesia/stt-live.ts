/**
 * Live recognition over one of two socket paths. Ink 2 detects a turn's end itself. Ink Whisper ends an utterance at
 * our `finalize`.
 */
import type { SttStreamRequest } from '../../domain/ports/stt.ts'
import type { LiveSttVendor } from '../wire/live-stt.ts'
import type { WarmRules } from '../wire/socket.ts'
import { endsTurns } from './models.ts'
import { finalizeVendor } from './stt-live-finalize.ts'
import { turnsVendor } from './stt-live-turns.ts'

/** Only audio is billed, so an idle socket costs nothing. In tests, idle sockets were closed after 120 s. */
export const warmStt: WarmRules = { keepAlive: null, idleMsMax: 100_000 }

/**
 * Returns the protocol for the request's model. Throws ProviderError `unsupported` if the vendor cannot serve the
 * request.
 */
export const liveVendor = (request: SttStreamRequest): LiveSttVendor =>
  endsTurns(request.model) ? turnsVendor(request) : finalizeVendor(request)
