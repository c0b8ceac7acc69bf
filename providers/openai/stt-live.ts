/** Live recognition over GET /realtime, with OpenAI's or a Speaches server's variant of the protocol. */
import type { Stt, SttStreamRequest } from '../../domain/ports/stt.ts'
import type { RealtimeRules } from '../vendors/vendors.ts'
import { type LiveSttOptions, type LiveSttVendor, openLiveStt } from '../wire/live-stt.ts'
import type { WarmRules } from '../wire/socket.ts'
import { RealtimeAudio } from './stt-live-audio.ts'
import { realtimeVendor } from './stt-live-realtime.ts'
import { refusePrompt, speachesVendor } from './stt-live-speaches.ts'

/**
 * A session is billed by its audio, so an idle socket costs nothing. No keep-alive is needed, because a socket closed
 * by the server is replaced.
 */
export const warmStt: WarmRules = { keepAlive: null, idleMsMax: 60_000 }

type Rules = {
  /** Throws ProviderError `unsupported` if the server cannot serve the request. */
  check: (request: SttStreamRequest) => void
  /** True if the server accepts G.711 at 8 kHz unchanged. */
  takesG711: boolean
  vendor: (request: SttStreamRequest, audio: RealtimeAudio) => LiveSttVendor
}

const rulesOf: Record<RealtimeRules, Rules> = {
  openai: { check: () => {}, takesG711: true, vendor: realtimeVendor },
  speaches: { check: refusePrompt, takesG711: false, vendor: speachesVendor },
}

export function createRealtimeStt(options: LiveSttOptions, rules: RealtimeRules): NonNullable<Stt['open']> {
  const { check, takesG711, vendor } = rulesOf[rules]
  return async (request, sink, signal) => {
    check(request)
    const audio = await RealtimeAudio.create(request.audio, takesG711)
    try {
      return await openLiveStt(options, vendor(request, audio), sink, signal)
    } catch (error) {
      audio.close()
      throw error
    }
  }
}
