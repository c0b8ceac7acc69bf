import type { Catalog } from '../../../domain/catalog/catalog.ts'
import { isPresetVoice } from '../../../domain/catalog/voices.ts'
import type { Caller } from '../../../domain/records/organization.ts'
import type { Synthesis, SynthesizeInput } from '../../../domain/speech/synthesize.ts'
import type {
  CompatHandlers,
  CreateCompatSpeechEvent,
  CreateCompatSpeechRequest,
} from '../../../generated/compat/handlers.ts'
import type { CompatSpeechRequest } from '../../../generated/compat/types.ts'
import { type Context, Refusal } from '../../../runtime/engine/handler.ts'
import { routingOf } from '../../routing.ts'
import { routeHeaders } from '../../views/route.ts'
import { contextOf, ignoredHeader, languageOf } from './context.ts'
import { containerOf, pcmType, samplesAt, usualRateHz, wavOf } from './speech-format.ts'

export type SpeechDeps = {
  synthesize(order: SynthesizeInput): Promise<Synthesis>
  catalog: Catalog
  /**
   * The maximum number of sample bytes in a WAV. It is limited because a WAV is collected in memory and answered in one
   * piece.
   */
  wavBytesMax: number
}

export function createCompatSpeech(deps: SpeechDeps): CompatHandlers<Caller>['createCompatSpeech'] {
  return async (request, context) => {
    const { response_format: format = 'pcm', stream_format: streamFormat } = request.body
    const container = containerOf(format)
    if (container === 'wav' && streamFormat === 'sse') throw notStreamable()
    const synthesis = await deps.synthesize(speechOrder(deps.catalog, request, context))
    const headers = headersOf(synthesis)
    if (streamFormat === 'sse') return { status: 200, type: 'text/event-stream', headers, body: eventsOf(synthesis) }
    if (container === 'pcm') return { status: 200, type: pcmType(usualRateHz), headers, body: synthesis.audio }
    const body = await wavOf(synthesis.audio, usualRateHz, deps.wavBytesMax)
    return { status: 200, type: 'audio/wav', headers, body }
  }
}

export function streamCompatSpeech(deps: SpeechDeps): CompatHandlers<Caller>['streamCompatSpeech'] {
  return async (request, context) => {
    const { response_format: format = 'pcm', stream_format: streamFormat } = request.body
    if (containerOf(format) === 'wav') throw notStreamable()
    if (streamFormat === 'sse') throw eventsElsewhere()
    const synthesis = await deps.synthesize(speechOrder(deps.catalog, request, context))
    return { status: 200, type: pcmType(usualRateHz), headers: headersOf(synthesis), body: synthesis.audio }
  }
}

function speechOrder(
  catalog: Catalog,
  { header, body }: CreateCompatSpeechRequest,
  context: Context<Caller>,
): SynthesizeInput {
  const { input, model, instructions, speed } = body
  return {
    ...contextOf(context),
    ...languageOf(header),
    routing: routingOf(catalog, 'tts', context.caller, { model }),
    text: input,
    outputFormat: samplesAt(usualRateHz),
    lenient: true,
    ...voiceOf(body.voice),
    ...(instructions && { instructions }),
    ...(speed !== undefined && { speed }),
  }
}

/**
 * Reads the voice. The name of an OpenAI voice requests a similar voice at any provider. An id belongs to one provider.
 * `auto` requests no voice.
 */
function voiceOf(voice: CompatSpeechRequest['voice']): Pick<SynthesizeInput, 'voice' | 'preset'> {
  if (voice === undefined || voice === 'auto') return {}
  if (typeof voice !== 'string') return { voice: voice.id }
  return isPresetVoice(voice) ? { preset: voice } : { voice }
}

function headersOf({ route, characters, ignored }: Synthesis) {
  return { ...routeHeaders(route), ...ignoredHeader(ignored), 'Service-Usage-Characters': characters }
}

async function* eventsOf({ audio, characters }: Synthesis): AsyncGenerator<CreateCompatSpeechEvent> {
  for await (const chunk of audio)
    yield { data: { type: 'speech.audio.delta', audio: Buffer.from(chunk).toString('base64') } }
  const usage = { input_tokens: characters, output_tokens: 0, total_tokens: characters }
  yield { data: { type: 'speech.audio.done', usage } }
}

function notStreamable(): Refusal {
  return new Refusal('invalid_parameter', {
    param: '/response_format',
    message: 'A WAV cannot be streamed: its header states the total length.',
    hint: 'Send response_format "pcm" here, or ask POST /v1/audio/speech for the WAV in one piece.',
  })
}

function eventsElsewhere(): Refusal {
  return new Refusal('invalid_parameter', {
    param: '/stream_format',
    message: 'This route answers raw audio only.',
    hint: 'Send stream_format "sse" to POST /v1/audio/speech.',
  })
}
