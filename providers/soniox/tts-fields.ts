/** What a text is spoken as. */
import type { OutputFormat } from '../../audio/format.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { TtsRequest } from '../../domain/speech/tts.ts'
import { vendorTag } from '../language-tags.ts'
import { type JsonObject } from '../wire/json.ts'
import { nativeSpeech, speechRatesHz } from './models.ts'

/** Its Opus comes in a container that the vendor does not name. */
type SpokenFormat = OutputFormat & { encoding: Exclude<OutputFormat['encoding'], 'opus'> }

/** What comes nearest to `wanted`. A rate is never below the wanted one where there is such: what was not emitted cannot be put back. */
export function spokenFormat({ encoding, sampleRateHz }: OutputFormat): SpokenFormat {
  const rate = speechRatesHz.find((emitted) => emitted >= sampleRateHz) ?? Math.max(...speechRatesHz)
  const isG711 = encoding === 'mulaw' || encoding === 'alaw'
  if (encoding === 'opus' || (isG711 && sampleRateHz !== 8000)) return { ...nativeSpeech, sampleRateHz: rate }
  return { encoding, sampleRateHz: rate, channels: 1 }
}

/** For who names none: the voice of the vendor's own examples. All of them speak every language. */
const defaultVoice = 'Adrian'
/** The vendor wants one, and its own client says English. */
const defaultLanguage = 'en'
/** Of one request. Audio beyond two minutes ends in an error of the vendor's. */
const textCharactersMax = 5000
/** The vendor's range. Another provider may go further, so it is not clipped in silence. */
const speeds = { min: 0.7, max: 1.3 }

/** The stream's configuration, then its text. Throws ProviderError `unsupported` for what the vendor has not. */
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

/** The vendor's names of samples. */
const encodings: Record<SpokenFormat['encoding'], string> = {
  pcm_s16le: 'pcm_s16le',
  pcm_f32le: 'pcm_f32le',
  mulaw: 'pcm_mulaw',
  alaw: 'pcm_alaw',
}

const unsupported = (cause: string) => new ProviderError('unsupported', { sent: false, cause })
