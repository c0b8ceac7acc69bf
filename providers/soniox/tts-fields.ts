/** The frames of a text to speech request. */
import type { OutputFormat } from '../../audio/format.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { TtsRequest } from '../../domain/ports/tts.ts'
import { vendorTag } from '../vendors/language-tags.ts'
import { type JsonObject } from '../wire/json.ts'
import { nativeSpeech, speechRatesHz } from './models.ts'

/** Without Opus, because the vendor does not name the container of its Opus. */
type SpokenFormat = OutputFormat & { encoding: Exclude<OutputFormat['encoding'], 'opus'> }

/**
 * The format nearest to `wanted`. The rate is not below the wanted one if the vendor has such a rate, because lost
 * frequencies cannot be restored.
 */
export function spokenFormat({ encoding, sampleRateHz }: OutputFormat): SpokenFormat {
  const rate = speechRatesHz.find((emitted) => emitted >= sampleRateHz) ?? Math.max(...speechRatesHz)
  const isG711 = encoding === 'mulaw' || encoding === 'alaw'
  if (encoding === 'opus' || (isG711 && sampleRateHz !== 8000)) return { ...nativeSpeech, sampleRateHz: rate }
  return { encoding, sampleRateHz: rate, channels: 1 }
}

/** The voice of a request that names none: the one in the vendor's examples. All voices speak every language. */
const defaultVoice = 'Adrian'
/** The vendor requires a language, and its client sends English by default. */
const defaultLanguage = 'en'
/** The limit of one request. For audio longer than two minutes the vendor reports an error. */
const textCharactersMax = 5000
/** The vendor's range. A speed outside of it is refused and not clipped, because another provider may have it. */
const speeds = { min: 0.7, max: 1.3 }

/**
 * The configuration of the stream, then its text. Throws ProviderError `unsupported` for a length or a speed that the
 * vendor lacks.
 */
export function speechFrames(request: TtsRequest, format: SpokenFormat, streamId: string): [JsonObject, JsonObject] {
  const { model, text, voice = defaultVoice, language, speed } = request
  if (text.length > textCharactersMax) throw unsupported('the length of the text')
  if (speed !== undefined && (speed < speeds.min || speed > speeds.max)) throw unsupported('speed')
  const start = {
    stream_id: streamId,
    model,
    language: language === undefined ? defaultLanguage : vendorTag('soniox', language),
    voice,
    audio_format: encodings[format.encoding],
    sample_rate: format.sampleRateHz,
    ...(speed !== undefined && { speed }),
  }
  return [start, { stream_id: streamId, text, text_end: true }]
}

/** The vendor's names of sample encodings. */
const encodings: Record<SpokenFormat['encoding'], string> = {
  pcm_s16le: 'pcm_s16le',
  pcm_f32le: 'pcm_f32le',
  mulaw: 'pcm_mulaw',
  alaw: 'pcm_alaw',
}

const unsupported = (cause: string) => new ProviderError('unsupported', { sent: false, cause })
