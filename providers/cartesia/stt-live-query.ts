/** The common query fields for both live recognition protocols. */
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { StreamAudio, SttStreamRequest } from '../../domain/ports/stt.ts'
import { encodings } from './tts-fields.ts'

/** The audio format: raw samples with one channel. */
export type SampleAudio = StreamAudio & { encoding: Exclude<StreamAudio['encoding'], 'opus'> }

/**
 * Returns the format of the samples. Throws ProviderError `unsupported` for Opus, because the vendor accepts Opus only
 * in files.
 */
export function sampleAudio({ encoding, sampleRateHz, channels }: StreamAudio): SampleAudio {
  if (encoding === 'opus') throw new ProviderError('unsupported', { sent: false, cause: 'opus' })
  return { encoding, sampleRateHz, channels }
}

/**
 * Makes the query for a stream. Throws ProviderError `unsupported` if there are more keyterms than the vendor accepts.
 */
export function liveQuery({ model, keywords = [] }: SttStreamRequest, audio: SampleAudio): URLSearchParams {
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

const keytermsMax = 100
/** The vendor's limit for the characters in all keyterms together. */
const keytermCharactersMax = 1200
