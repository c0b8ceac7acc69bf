import type { Caller } from '../../domain/access/organization.ts'
import type { Synthesis, SynthesizeInput } from '../../domain/speech/synthesize.ts'
import type { RouterHandlers } from '../../generated/router/handlers.ts'
import type { SpeechAudio } from '../../generated/router/types.ts'
import { routeHeaders } from '../views/route.ts'
import { contextOf } from './context.ts'
import { routingOf } from './routing.ts'

export type SpeechDeps = { synthesize(order: SynthesizeInput): Promise<Synthesis> }

export function createSpeech(deps: SpeechDeps): RouterHandlers<Caller>['createSpeech'] {
  return async ({ header, body }, context) => {
    const { input, audio, voice, language, instructions, speed, routing } = body
    const {
      route,
      characters,
      audio: stream,
    } = await deps.synthesize({
      ...contextOf(header, context),
      routing: routingOf(routing, context.caller),
      text: input,
      wanted: wantedOf(audio),
      ...(voice && { voice }),
      ...(language && { language }),
      ...(instructions && { instructions }),
      ...(speed !== undefined && { speed }),
    })
    return { status: 200, headers: { ...routeHeaders(route), 'Service-Usage-Characters': characters }, body: stream }
  }
}

/** The validator fills in the same defaults; the types do not know it. */
function wantedOf(audio: SpeechAudio | undefined): SynthesizeInput['wanted'] {
  return {
    encoding: audio?.encoding ?? 'pcm_s16le',
    sampleRateHz: audio?.sample_rate_hz ?? 24000,
    channels: audio?.channels ?? 1,
  }
}
