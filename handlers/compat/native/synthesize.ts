import type { Caller } from '../../../domain/records/organization.ts'
import type { CompatHandlers } from '../../../generated/compat/handlers.ts'
import { routingOf } from '../../routing.ts'
import { contextOf, ignoredHeader, languageOf, nativeHeaders } from '../openai/context.ts'
import type { SpeechDeps } from '../openai/speech.ts'
import { containerOf, pcmType, samplesAt, usualRateHz, wavOf } from '../openai/speech-format.ts'

export function synthesize(deps: SpeechDeps): CompatHandlers<Caller>['synthesize'] {
  return async ({ header, body }, context) => {
    const { text, voice, intent, instructions, speed, sample_rate: rateHz = usualRateHz } = body
    const container = containerOf(body.response_format ?? 'pcm')
    const { route, characters, audio, ignored } = await deps.synthesize({
      ...contextOf(context),
      ...languageOf(header, intent?.language, body.language),
      routing: routingOf(deps.catalog, 'tts', context.caller, body),
      text,
      outputFormat: samplesAt(rateHz),
      lenient: true,
      // The voice is passed on unchanged: in this operation the name of an OpenAI voice is not replaced by a similar
      // voice.
      ...(voice !== undefined && voice !== 'auto' && { voice }),
      ...(instructions && { instructions }),
      ...(speed !== undefined && { speed }),
    })
    const headers = { ...nativeHeaders(route), ...ignoredHeader(ignored), 'Service-Usage-Characters': characters }
    if (container === 'pcm') return { status: 200, type: pcmType(rateHz), headers, body: audio }
    return { status: 200, type: 'audio/wav', headers, body: await wavOf(audio, rateHz, deps.wavBytesMax) }
  }
}
