/** The first frame, which holds all of the configuration. */
import type { SttStreamRequest } from '../../domain/speech/stt-stream.ts'
import { vendorTag } from '../language-tags.ts'
import type { JsonObject } from '../wire/failures.ts'

/** The delays that this vendor takes. */
const endpointMsMin = 500
const endpointMsMax = 3000

export function startRequest(request: SttStreamRequest): JsonObject {
  const { model, audio, language, endpointingMs, keywords, prompt } = request
  return {
    model,
    audio_format: audio.encoding,
    sample_rate: audio.sampleRateHz,
    num_channels: audio.channels,
    enable_endpoint_detection: true,
    ...(endpointingMs !== undefined && {
      max_endpoint_delay_ms: Math.min(Math.max(Math.round(endpointingMs), endpointMsMin), endpointMsMax),
    }),
    ...(language === undefined
      ? { enable_language_identification: true }
      : { language_hints: [vendorTag('soniox', language)], language_hints_strict: true }),
    ...((keywords?.length || prompt !== undefined) && {
      context: { ...(keywords?.length && { terms: keywords }), ...(prompt !== undefined && { text: prompt }) },
    }),
  }
}
