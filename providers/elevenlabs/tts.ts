/** POST /v1/text-to-speech/{voice}/stream: raw samples or Opus in Ogg, streamed while the vendor generates them. */
import { ascii } from '../../audio/chunked-bytes.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Speech, TtsRequest } from '../../domain/ports/tts.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import { audioOf, discardAnswer } from '../wire/audio-answer.ts'
import { protocolError, toProviderError } from '../wire/failures.ts'
import { json, type VendorHttp } from '../wire/http.ts'
import { type JsonObject } from '../wire/json.ts'
import { speechTraits } from './models.ts'
import { type Output, outputFor } from './output-format.ts'

export async function synthesize(
  http: VendorHttp,
  request: TtsRequest,
  audioBytesMax: number,
  signal: AbortSignal,
): Promise<Speech> {
  const output = outputFor(request.outputFormat)
  const path = `${voicePath(request)}/stream?output_format=${output.name}`
  const answer = await http.stream(path, json(speechBody(request)), audioBytesMax, signal)
  return readSpeech(answer, output)
}

/** The default voice if a request names no voice, from the vendor's examples. */
const defaultVoice = 'JBFqnCBsd6RMkjVDRZzb'

export const voicePath = ({ voice = defaultVoice }: TtsRequest) => `/v1/text-to-speech/${encodeURIComponent(voice)}`

/**
 * Returns the value for `language_code`. Returns undefined if the model cannot enforce a language, because such models
 * refuse the field.
 */
export const languageCode = ({ model, language }: TtsRequest) =>
  speechTraits[model]?.languageCode === true ? language : undefined

/**
 * The vendor's speed range. Other speeds are refused and not clipped, because another provider may support the
 * requested speed.
 */
const speedMin = 0.7
const speedMax = 1.2

/**
 * Returns the request field for the speed. Throws ProviderError `unsupported` for a speed outside the vendor's range.
 */
export function voiceSettings({ speed }: TtsRequest): { voice_settings?: JsonObject } {
  if (speed === undefined) return {}
  if (speed < speedMin || speed > speedMax) throw new ProviderError('unsupported', { sent: false, cause: 'speed' })
  return { voice_settings: { speed } }
}

function speechBody(request: TtsRequest): JsonObject {
  const language = languageCode(request)
  return {
    text: request.text,
    model_id: request.model,
    ...(language !== undefined && { language_code: language }),
    ...voiceSettings(request),
  }
}

async function readSpeech(answer: StreamedAnswer, { format }: Output): Promise<Speech> {
  const type = (answer.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  // The vendor may send MP3 instead. MP3 played as raw samples would be noise, so it is refused.
  if (type === 'audio/mpeg' || !/^(audio\/.*|application\/(octet-stream|ogg)|)$/.test(type)) {
    await discardAnswer(answer)
    throw protocolError(`Content-Type ${type.slice(0, 64)}`)
  }
  return format.encoding === 'opus' ? readOgg(answer, format) : { format, audio: audioOf(answer) }
}

/**
 * Returns the audio as Ogg. The vendor's format name is only the codec, so the first bytes are checked for the Ogg
 * signature (RFC 3533 §6).
 */
async function readOgg(answer: StreamedAnswer, format: Output['format']): Promise<Speech> {
  try {
    const body = answer.body[Symbol.asyncIterator]()
    let start: Buffer = Buffer.alloc(0)
    while (start.length < 4) {
      const next = await body.next()
      if (next.done) return { format, audio: audioOf(answer, start) }
      start = Buffer.concat([start, next.value])
    }
    if (ascii(start, 0, 4) === 'OggS') return { format, audio: audioOf(answer, start) }
  } catch (error) {
    throw toProviderError(error)
  }
  await discardAnswer(answer)
  throw new ProviderError('unsupported', { sent: true, cause: 'Opus that is not in Ogg' })
}
