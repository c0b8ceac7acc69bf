/** What a text is spoken as: the same object over HTTP and on the socket. */
import type { OutputFormat } from '../../audio/format.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { TtsRequest } from '../../domain/speech/tts.ts'
import { vendorTag } from '../language-tags.ts'
import { type JsonObject } from '../wire/json.ts'
import { nativeSpeech, speechRatesHz } from './models.ts'

/** Opus is what it has not. */
export type SpokenFormat = OutputFormat & { encoding: Exclude<OutputFormat['encoding'], 'opus'> }

/** What comes nearest to `wanted`. A rate is never below the wanted one where there is such: what was not emitted cannot be put back. */
export function spokenFormat({ encoding, sampleRateHz }: OutputFormat): SpokenFormat {
  const rate = speechRatesHz.find((emitted) => emitted >= sampleRateHz) ?? Math.max(...speechRatesHz)
  // G.711 at another rate than the wanted one would be decoded only to be encoded again.
  const isAsWanted = encoding === 'pcm_f32le' || rate === sampleRateHz
  return {
    encoding: isAsWanted && encoding !== 'opus' ? encoding : nativeSpeech.encoding,
    sampleRateHz: rate,
    channels: 1,
  }
}

/** "Katie", whom the vendor recommends for agents, for who names none: she is in the public library. */
const defaultVoice = 'f786b574-daa5-4673-aa0c-cbe3e8534c02'

/** Throws ProviderError `unsupported` for a speed that the vendor has not. */
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

/** The vendor's names of samples, both ways. */
export const encodings: Record<SpokenFormat['encoding'], string> = {
  pcm_s16le: 'pcm_s16le',
  pcm_f32le: 'pcm_f32le',
  mulaw: 'pcm_mulaw',
  alaw: 'pcm_alaw',
}

/** The vendor's range. Another provider may go further, so it is not clipped in silence. */
const speeds = { min: 0.6, max: 1.5 }

function generationConfig({ speed }: TtsRequest): JsonObject {
  if (speed === undefined) return {}
  if (speed < speeds.min || speed > speeds.max) throw new ProviderError('unsupported', { sent: false, cause: 'speed' })
  return { generation_config: { speed } }
}
