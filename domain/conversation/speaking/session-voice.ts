/** The voice of a session: the turns after the first keep its provider and model. */
import type { VoiceWish } from '../../catalog/voices.ts'
import type { Route } from '../../dispatch/request.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import type { Routing } from '../../routing/ask.ts'
import { voiceWishOf } from '../../speech/session-routes.ts'

export type SessionVoice = {
  route: Route | null
  /** After a failover: a preset that is like the voice before. */
  preset: string | null
}

/** `failures`: how often the stage has failed since a voice worked. `failed`: the provider that has just failed. */
type Failures = { failures: number; failed: string | null }

/** The voice of the turns before, then any other provider than the one that has just failed. */
export function nextRouting(routing: Routing, { route }: SessionVoice, { failures, failed }: Failures): Routing {
  if (routing.mode === 'explicit') return routing
  if (route !== null && failures === 0) return { mode: 'explicit', provider: route.provider, model: route.model }
  if (failed === null || failures > 1) return routing
  return { ...routing, denyProviders: [...(routing.denyProviders ?? []), failed] }
}

/** A voice that the settings name goes before the preset of a failover. */
export function wishOf(pipeline: Pipeline, { preset }: SessionVoice): VoiceWish {
  const wish = voiceWishOf(pipeline)
  return preset === null || wish.voice !== undefined || wish.preset !== undefined ? wish : { preset }
}
