/**
 * Synthesizes with POST /audio/speech, streamed. The response's Content-Type names the format. It may differ from the
 * requested format.
 */
import type { Speech, Tts, TtsRequest } from '../../domain/ports/tts.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { audioOf, discardAnswer, readWav } from '../wire/audio-answer.ts'
import { protocolError } from '../wire/failures.ts'
import { json, type VendorHttp } from '../wire/http.ts'
import { type JsonObject } from '../wire/json.ts'
import { speechOfEvents } from './tts-events.ts'
import { nativeSpeech, oggOpus, type TtsFamily, ttsFamilyOf } from './tts-families.ts'

export function createTts(http: VendorHttp, limits: OutboundLimits, apiKey: string | null): Tts {
  return {
    async synthesize(request, signal) {
      const family = ttsFamilyOf(request.model)
      if (family.responseFormat === 'events') return speechOfEvents(http, request, family, { limits, apiKey, signal })
      const body = json(speechBody(request, family))
      return readSpeech(await http.stream('/audio/speech', body, limits.audioBytesMax, signal))
    },
  }
}

function speechBody(request: TtsRequest, family: TtsFamily): JsonObject {
  const { model, text, voice = family.defaultVoice, instructions, speed, outputFormat } = request
  return {
    model,
    input: text,
    voice,
    response_format: family.opus && outputFormat.encoding === 'opus' ? 'opus' : family.responseFormat,
    ...(instructions !== undefined && { instructions }),
    ...(speed !== undefined && { speed }),
  }
}

async function readSpeech(answer: StreamedAnswer): Promise<Speech> {
  const [type = '', ...parameters] = (answer.headers.get('content-type') ?? '').toLowerCase().split(';')
  switch (type.trim()) {
    case 'audio/wav':
    case 'audio/wave':
    case 'audio/x-wav':
    case 'audio/vnd.wave':
      return readWav(answer)
    case 'audio/ogg':
    case 'audio/opus':
      return { format: oggOpus, audio: audioOf(answer) }
    case 'audio/pcm':
    case 'audio/raw':
    case 'audio/x-raw':
    case 'application/octet-stream':
    case '':
      return { format: { ...nativeSpeech, ...rateOf(parameters) }, audio: audioOf(answer) }
  }
  await discardAnswer(answer)
  throw protocolError(`Content-Type ${type.slice(0, 64)}`)
}

function rateOf(parameters: string[]): { sampleRateHz: number } | undefined {
  const rate = Number(/^\s*rate=(\d+)\s*$/.exec(parameters.find((text) => text.includes('rate=')) ?? '')?.[1])
  return rate >= 8000 && rate <= 192_000 ? { sampleRateHz: rate } : undefined
}
