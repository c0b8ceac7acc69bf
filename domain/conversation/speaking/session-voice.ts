/** Keeps one voice for a session: later turns use the first turn's provider and model. */
import type { VoiceWish } from '../../catalog/voices.ts'
import type { Route } from '../../dispatch/request.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import type { Routing } from '../../routing/ask.ts'
import { voiceWishOf } from '../../speech/session-routes.ts'

export type SessionVoice = {
  route: Route | null
  /** After a failover: a preset similar to the earlier voice. */
  preset: string | null
}

/** `failures` counts the stage's failures since a voice worked. `failed` is the last provider to fail. */
type Failures = { failures: number; failed: string | null }

/** The earlier turns' voice. After a failure, any provider except the failed provider. */
export function nextRouting(routing: Routing, { route }: SessionVoice, { failures, failed }: Failures): Routing {
  if (routing.mode === 'explicit') return routing
  if (route !== null && failures === 0) return { mode: 'explicit', provider: route.provider, model: route.model }
  if (failed === null || failures > 1) return routing
  return { ...routing, denyProviders: [...(routing.denyProviders ?? []), failed] }
}

/** If the settings name a voice, it has priority over the failover's preset. */
export function wishOf(pipeline: Pipeline, { preset }: SessionVoice): VoiceWish {
  const wish = voiceWishOf(pipeline)
  return preset === null || wish.voice !== undefined || wish.preset !== undefined ? wish : { preset }
}
