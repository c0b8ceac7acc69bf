/** StartRecognition: the first frame, which holds all of the configuration. */
import type { SttStreamRequest } from '../../domain/speech/stt-stream.ts'
import { vendorTag } from '../language-tags.ts'
import type { JsonObject } from '../wire/failures.ts'

/** By itself this vendor ends no utterance. Half a second is what it advises for conversations, two seconds the longest that it takes. */
const silenceS = 0.5
const silenceSMax = 2

/** `language` is one that the model has. */
export function startRecognition(request: SttStreamRequest, language: string): JsonObject {
  const { model, audio, interimResults, endpointingMs, keywords } = request
  const trigger = endpointingMs === undefined ? silenceS : Math.min(endpointingMs / 1000, silenceSMax)
  return {
    message: 'StartRecognition',
    audio_format: { type: 'raw', encoding: audio.encoding, sample_rate: audio.sampleRateHz },
    transcription_config: {
      ...spoken(language),
      model,
      enable_partials: interimResults,
      conversation_config: { end_of_utterance_silence_trigger: trigger },
      ...(keywords?.length && { additional_vocab: keywords.map((content) => ({ content })) }),
    },
  }
}

/** Mandarin goes by its own code here. A region only changes how English is written. */
function spoken(language: string): JsonObject {
  const base = language.split('-')[0] ?? language
  const spelt = vendorTag('speechmatics', base)
  return base === language ? { language: spelt } : { language: spelt, output_locale: language }
}
