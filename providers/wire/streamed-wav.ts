/** Reads the WAV header that some servers send before the samples. */
import { AudioError } from '../../audio/error.ts'
import type { OutputFormat } from '../../audio/format.ts'
import { readWavStart } from '../../audio/wav.ts'

export type StreamedWavHeader = { format: OutputFormat; dataOffset: number }

/**
 * Returns the header. Returns null if more bytes are needed. Throws AudioError if the bytes are not a WAV file, or if
 * the sample format is unsupported.
 */
export function readStreamedWav(start: Uint8Array): StreamedWavHeader | null {
  const header = readWavStart(start)
  if (header === null) return null
  const { encoding, sampleRateHz, channels } = header.format
  if (encoding !== 'pcm_s16le' && encoding !== 'pcm_f32le' && encoding !== 'mulaw' && encoding !== 'alaw')
    throw new AudioError('unsupported', `The WAV has samples in ${encoding}.`)
  return { format: { encoding, sampleRateHz, channels }, dataOffset: header.dataOffset }
}
