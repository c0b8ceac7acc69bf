/** Which of the vendor's output formats comes closest to what a caller wants to hear. */
import type { OutputFormat } from '../../audio/format.ts'

/** Higher rates exist for accounts of a higher tier only: asked with another key, they are a refusal. */
export const pcmRatesHz = [8000, 16_000, 22_050, 24_000, 32_000] as const

export const nativeSpeech: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
/** RFC 7845: Opus in Ogg is decoded at 48 kHz whatever it was made from. */
export const oggOpus: OutputFormat = { encoding: 'opus', sampleRateHz: 48_000, channels: 1 }

export type Output = { name: string; format: OutputFormat }

/** Everything is mono. A rate is never below the wanted one where there is such: what was not emitted cannot be put back. */
export function outputFor({ encoding, sampleRateHz }: OutputFormat): Output {
  if (encoding === 'opus') return { name: 'opus_48000_64', format: oggOpus }
  if (encoding === 'mulaw' && sampleRateHz === 8000) return { name: 'ulaw_8000', format: g711('mulaw') }
  if (encoding === 'alaw' && sampleRateHz === 8000) return { name: 'alaw_8000', format: g711('alaw') }
  const rate = pcmRatesHz.find((emitted) => emitted >= sampleRateHz) ?? pcmRatesHz[pcmRatesHz.length - 1]!
  return { name: `pcm_${rate}`, format: { ...nativeSpeech, sampleRateHz: rate } }
}

const g711 = (encoding: 'mulaw' | 'alaw'): OutputFormat => ({ encoding, sampleRateHz: 8000, channels: 1 })
