/** The fields for a text to speech request. HTTP and the socket accept the same object. */
import type { OutputFormat } from '../../audio/format.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { TtsRequest } from '../../domain/ports/tts.ts'
import { vendorTag } from '../vendors/language-tags.ts'
import { type JsonObject } from '../wire/json.ts'
import { nativeSpeech, speechRatesHz } from './models.ts'

/** The formats for speech from this vendor: any output format except Opus. */
export type SpokenFormat = OutputFormat & { encoding: Exclude<OutputFormat['encoding'], 'opus'> }

/**
 * Returns the format nearest to the requested format. The rate is at least the requested rate if the vendor has such a
 * rate, because resampling cannot restore lost frequencies.
 */
export function spokenFormat({ encoding, sampleRateHz }: OutputFormat): SpokenFormat {
  const rate = speechRatesHz.find((emitted) => emitted >= sampleRateHz) ?? Math.max(...speechRatesHz)
  // G.711 at another rate than requested would have to be decoded and encoded again, so samples are requested instead.
  const canUseEncoding = encoding === 'pcm_f32le' || rate === sampleRateHz
  return {
    encoding: canUseEncoding && encoding !== 'opus' ? encoding : nativeSpeech.encoding,
    sampleRateHz: rate,
    channels: 1,
  }
}

/**
 * The default voice if a request names no voice: "Katie", from the public library, recommended by the vendor for
 * agents.
 */
const defaultVoice = 'f786b574-daa5-4673-aa0c-cbe3e8534c02'

/** Returns the request's body. Throws ProviderError `unsupported` for a speed outside the vendor's range. */
export function speechBody(request: TtsRequest, { encoding, sampleRateHz }: SpokenFormat): JsonObject {
  const { model, text, voice = defaultVoice, language } = request
  return {
    model_id: model,
    transcript: text,
    voice,
    output_format: { container: 'raw', encoding: encodings[encoding], sample_rate: sampleRateHz },
    ...(language !== undefined && { language: vendorTag('cartesia', language) }),
    ...generationConfig(request),
  }
}

/** The vendor's names for sample encodings, for requests and for speech. */
export const encodings: Record<SpokenFormat['encoding'], string> = {
  pcm_s16le: 'pcm_s16le',
  pcm_f32le: 'pcm_f32le',
  mulaw: 'pcm_mulaw',
  alaw: 'pcm_alaw',
}

/**
 * The vendor's speed range. Other speeds are refused and not clipped, because another provider may support the
 * requested speed.
 */
const speeds = { min: 0.6, max: 1.5 }

function generationConfig({ speed }: TtsRequest): JsonObject {
  if (speed === undefined) return {}
  if (speed < speeds.min || speed > speeds.max) throw new ProviderError('unsupported', { sent: false, cause: 'speed' })
  return { generation_config: { speed } }
}
