/** Keeps one voice for a whole session: later turns use the first turn's provider and model. */
import type { VoiceWish } from '../../catalog/voices.ts'
import type { Route } from '../../dispatch/request.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import type { Routing } from '../../routing/ask.ts'
import { voiceWishOf } from '../../speech/session-routes.ts'

export type SessionVoice = {
  route: Route | null
  /** After a failover, the preset that is most similar to the earlier voice. */
  preset: string | null
}

/**
 * `failures` counts the failures of text to speech since a voice last worked. `failed` is the provider that failed
 * last.
 */
type Failures = { failures: number; failed: string | null }

/**
 * Returns the routing for the next speech: the earlier turns' provider and model. After one failure it allows any
 * provider except the failed provider.
 */
export function nextRouting(routing: Routing, { route }: SessionVoice, { failures, failed }: Failures): Routing {
  if (routing.mode === 'explicit') return routing
  if (route !== null && failures === 0) return { mode: 'explicit', provider: route.provider, model: route.model }
  if (failed === null || failures > 1) return routing
  return { ...routing, denyProviders: [...(routing.denyProviders ?? []), failed] }
}

/** Returns the voice to request. If the settings name a voice, it has priority over the failover's preset. */
export function wishOf(pipeline: Pipeline, { preset }: SessionVoice): VoiceWish {
  const wish = voiceWishOf(pipeline)
  return preset === null || wish.voice !== undefined || wish.preset !== undefined ? wish : { preset }
}
