/** Makes the frames for a text to speech request. */
import type { OutputFormat } from '../../audio/format.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { TtsRequest } from '../../domain/ports/tts.ts'
import { vendorTag } from '../vendors/language-tags.ts'
import { type JsonObject } from '../wire/json.ts'
import { nativeSpeech, speechRatesHz } from './models.ts'

/**
 * The formats for speech from this vendor. Opus is missing, because the vendor does not document its Opus container.
 */
type SpokenFormat = OutputFormat & { encoding: Exclude<OutputFormat['encoding'], 'opus'> }

/**
 * Returns the format nearest to the requested format. The rate is at least the requested rate if the vendor has such a
 * rate, because resampling cannot restore lost frequencies.
 */
export function spokenFormat({ encoding, sampleRateHz }: OutputFormat): SpokenFormat {
  const rate = speechRatesHz.find((emitted) => emitted >= sampleRateHz) ?? Math.max(...speechRatesHz)
  const isG711 = encoding === 'mulaw' || encoding === 'alaw'
  if (encoding === 'opus' || (isG711 && sampleRateHz !== 8000)) return { ...nativeSpeech, sampleRateHz: rate }
  return { encoding, sampleRateHz: rate, channels: 1 }
}

/** The default voice if a request names no voice, from the vendor's examples. All voices speak every language. */
const defaultVoice = 'Adrian'
/** The vendor requires a language. The vendor's SDK sends English by default. */
const defaultLanguage = 'en'
/** The text limit for one request, because the vendor reports an error if the audio is longer than two minutes. */
const textCharactersMax = 5000
/**
 * The vendor's speed range. Other speeds are refused and not clipped, because another provider may support the
 * requested speed.
 */
const speeds = { min: 0.7, max: 1.3 }

/**
 * Returns the stream's configuration and its text. Throws ProviderError `unsupported` for a length or a speed outside
 * the vendor's limits.
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

/** The vendor's names for sample encodings. */
const encodings: Record<SpokenFormat['encoding'], string> = {
  pcm_s16le: 'pcm_s16le',
  pcm_f32le: 'pcm_f32le',
  mulaw: 'pcm_mulaw',
  alaw: 'pcm_alaw',
}

const unsupported = (cause: string) => new ProviderError('unsupported', { sent: false, cause })
