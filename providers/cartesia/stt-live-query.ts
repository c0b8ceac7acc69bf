/** How both live transcribers are asked, and what they share. */
import { frameBytes } from '../../audio/pcm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { StreamAudio, SttStreamRequest } from '../../domain/speech/stt.ts'
import type { Standby } from '../wire/socket.ts'
import { encodings } from './tts-fields.ts'

/** Audio is billed, so one that waits costs nothing. Idle ones were seen to end after 120 s. */
export const standby: Standby = { keepAlive: null, idleMsMax: 100_000 }

/** Raw samples of one channel. */
export type SampleAudio = StreamAudio & { encoding: Exclude<StreamAudio['encoding'], 'opus'> }

/** Throws ProviderError `unsupported` for what the vendor hears in files only. */
export function sampleAudio({ encoding, sampleRateHz, channels }: StreamAudio): SampleAudio {
  if (encoding === 'opus') throw new ProviderError('unsupported', { sent: false, cause: 'opus' })
  return { encoding, sampleRateHz, channels }
}

export const bytesPerMs = (audio: SampleAudio): number => (frameBytes(audio) * audio.sampleRateHz) / 1000

/** Throws ProviderError `unsupported` for more keyterms than the vendor takes. */
export function listenQuery({ model, keywords = [] }: SttStreamRequest, audio: SampleAudio): URLSearchParams {
  const query = new URLSearchParams({
    model,
    encoding: encodings[audio.encoding],
    sample_rate: String(audio.sampleRateHz),
  })
  if (keywords.length > keytermsMax || keywords.join('').length > keytermCharactersMax)
    throw new ProviderError('unsupported', { sent: false, cause: 'keyterms beyond the limit' })
  for (const keyword of keywords) query.append('keyterm', keyword)
  return query
}

/** Of all of them together. */
const keytermsMax = 100
const keytermCharactersMax = 1200
