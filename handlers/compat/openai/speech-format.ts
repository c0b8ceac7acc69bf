/** The OpenAI-compatible API's audio formats: raw samples, or the same samples in a WAV. */
import type { OutputFormat } from '../../../audio/format.ts'
import { wavHeader } from '../../../audio/wav.ts'
import { Refusal } from '../../../runtime/engine/handler.ts'

const formatHint =
  'Send response_format "pcm" or "wav" (OpenAI SDK: response_format="wav"; AI SDK: outputFormat: "wav"; LiveKit: response_format="pcm").'

/**
 * Reads the requested format. Throws the refusal invalid_parameter for any other format and names the setting to
 * change, because clients request mp3 by default.
 */
export function containerOf(responseFormat: string): 'pcm' | 'wav' {
  if (responseFormat === 'pcm' || responseFormat === 'wav') return responseFormat
  throw new Refusal('invalid_parameter', {
    param: '/response_format',
    // The message repeats the hint, because clients show only the message.
    message: `Speech comes as pcm or wav, not as mp3 or another format. ${formatHint}`,
    hint: formatHint,
  })
}

export function samplesAt(sampleRateHz: number) {
  return { encoding: 'pcm_s16le', sampleRateHz, channels: 1 } as const satisfies OutputFormat
}

export const usualRateHz = 24_000

export function pcmType(sampleRateHz: number): `audio/pcm;${string}` {
  return `audio/pcm;rate=${sampleRateHz}`
}

/**
 * Makes a WAV. It begins with its length, so the audio is collected first. Throws the refusal invalid_parameter beyond
 * `bytesMax`.
 */
export async function wavOf(
  audio: AsyncIterable<Uint8Array>,
  sampleRateHz: number,
  bytesMax: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [new Uint8Array()]
  let bytes = 0
  for await (const chunk of audio) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLong()
    chunks.push(chunk)
  }
  chunks[0] = wavHeader(samplesAt(sampleRateHz), bytes)
  return Buffer.concat(chunks)
}

function tooLong(): Refusal {
  return new Refusal('invalid_parameter', {
    param: '/response_format',
    message: 'The speech is too long for a WAV in one piece.',
    hint: 'Send response_format "pcm", which is streamed, or a shorter text.',
  })
}
