import { opusRateHz } from '../../audio/opus.ts'
import type { Caller } from '../../domain/records/organization.ts'
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
      outputFormat: outputFormatOf(audio),
      ...(voice && { voice }),
      ...(language && { language }),
      ...(instructions && { instructions }),
      ...(speed !== undefined && { speed }),
    })
    return { status: 200, headers: { ...routeHeaders(route), 'Service-Usage-Characters': characters }, body: stream }
  }
}

/**
 * Reads the output format. The validator has filled in the encoding and the channels, but the types do not show this.
 */
function outputFormatOf(audio: SpeechAudio | undefined): SynthesizeInput['outputFormat'] {
  const encoding = audio?.encoding ?? 'pcm_s16le'
  const usualHz = encoding === 'opus' ? opusRateHz : 24_000
  return { encoding, sampleRateHz: audio?.sample_rate_hz ?? usualHz, channels: audio?.channels ?? 1 }
}
