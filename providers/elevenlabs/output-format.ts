/** Chooses the vendor's output format nearest to the requested format. */
import type { OutputFormat } from '../../audio/format.ts'

/** Rates higher than these need a more expensive plan. The vendor refuses them for other accounts. */
export const pcmRatesHz = [8000, 16_000, 22_050, 24_000, 32_000] as const

export const nativeSpeech: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
/** Opus in Ogg is always decoded at 48 kHz (RFC 7845). */
export const oggOpus: OutputFormat = { encoding: 'opus', sampleRateHz: 48_000, channels: 1 }

export type Output = { name: string; format: OutputFormat }

/**
 * Returns the nearest format. All formats are mono. The rate is at least the requested rate if the vendor has such a
 * rate, because resampling cannot restore lost frequencies.
 */
export function outputFor({ encoding, sampleRateHz }: OutputFormat): Output {
  if (encoding === 'opus') return { name: 'opus_48000_64', format: oggOpus }
  if (encoding === 'mulaw' && sampleRateHz === 8000) return { name: 'ulaw_8000', format: g711('mulaw') }
  if (encoding === 'alaw' && sampleRateHz === 8000) return { name: 'alaw_8000', format: g711('alaw') }
  const rate = pcmRatesHz.find((emitted) => emitted >= sampleRateHz) ?? pcmRatesHz[pcmRatesHz.length - 1]!
  return { name: `pcm_${rate}`, format: { ...nativeSpeech, sampleRateHz: rate } }
}

const g711 = (encoding: 'mulaw' | 'alaw'): OutputFormat => ({ encoding, sampleRateHz: 8000, channels: 1 })
