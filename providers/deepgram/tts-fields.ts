/** The query for text to speech: voice, format and speed. HTTP and the socket use the same query. */
import type { OutputFormat } from '../../audio/format.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { TtsRequest } from '../../domain/ports/tts.ts'
import { aura2, speakableRates } from './models.ts'
import { voiceFor } from './voices.ts'

/** The formats for speech from this vendor: any output format except float PCM. */
export type SpokenFormat = OutputFormat & { encoding: Exclude<OutputFormat['encoding'], 'pcm_f32le'> }

/** Returns the nearest format without a loss in quality. Not used for Opus, because tts.ts handles Opus. */
export function spokenFormat({ encoding, sampleRateHz }: OutputFormat): SpokenFormat {
  const isG711 = encoding === 'mulaw' || encoding === 'alaw'
  if (isG711 && speakableRates[encoding].some((rate) => rate === sampleRateHz))
    return { encoding, sampleRateHz, channels: 1 }
  const rates: readonly number[] = speakableRates.pcm_s16le
  const rate = rates.find((rate) => rate >= sampleRateHz) ?? Math.max(...rates)
  return { encoding: 'pcm_s16le', sampleRateHz: rate, channels: 1 }
}

/** Returns the query. Throws ProviderError `unsupported` if the vendor or the voice does not support the speed. */
export function speechQuery(
  { model: modelOrVoice, voice, language, speed }: TtsRequest,
  format: SpokenFormat,
): URLSearchParams {
  // Any model name except `aura-2` is a voice's name.
  const model = voice ?? (modelOrVoice === aura2 ? voiceFor(language) : modelOrVoice)
  if (speed !== undefined && !canSpeakAt(speed, model))
    throw new ProviderError('unsupported', { sent: false, cause: `speed ${speed}` })
  const list = new URLSearchParams({ model, encoding: names[format.encoding] })
  // Opus is always 48 kHz, and the vendor refuses `sample_rate` for Opus.
  if (format.encoding !== 'opus') list.set('sample_rate', String(format.sampleRateHz))
  if (speed !== undefined) list.set('speed', String(speed))
  return list
}

/** True if the speed is in the vendor's range. Only English and Spanish voices support a speed. */
const canSpeakAt = (speed: number, voice: string) => speed >= 0.7 && speed <= 1.5 && /-e[ns]$/.test(voice)

const names: Record<SpokenFormat['encoding'], string> = {
  pcm_s16le: 'linear16',
  mulaw: 'mulaw',
  alaw: 'alaw',
  opus: 'opus',
}
