/**
 * Describes how models behind POST /audio/speech differ. Voices and their spellings come from the vendors' documents.
 */
import type { OutputFormat } from '../../audio/format.ts'
import type { Voice } from '../../domain/ports/model.ts'

export type TtsFamily = {
  /**
   * The requested `response_format`: `wav` if the server sends no raw samples, `events` if the server sends base64 in
   * server-sent events. For `events` the request has other fields too.
   */
  responseFormat: 'pcm' | 'wav' | 'events'
  /** The sample format if the response has no WAV header. */
  native: OutputFormat
  /** True if the server can send Opus in Ogg. */
  opus: boolean
  instructions: boolean
  speed: boolean
  languages: readonly string[]
  voices: readonly Voice[]
  /** The voice to send if the client names no voice, because the protocol requires a voice. */
  defaultVoice: string
}

/** The protocol's raw sample format, with a fixed rate. */
export const nativeSpeech: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
/** Opus in Ogg is decoded at 48 kHz, independent of the original rate (RFC 7845). */
export const oggOpus: OutputFormat = { encoding: 'opus', sampleRateHz: 48_000, channels: 1 }

const voice = (id: string, gender: Voice['gender'], language?: string, name = id): Voice => ({
  id,
  name,
  gender,
  styles: [],
  ...(language !== undefined && { language }),
})

const openai: TtsFamily = {
  responseFormat: 'pcm',
  native: nativeSpeech,
  opus: true,
  instructions: true,
  speed: true,
  languages: ['*'],
  voices: [
    voice('alloy', 'neutral'),
    voice('ash', 'male'),
    voice('ballad', 'male'),
    voice('coral', 'female'),
    voice('echo', 'male'),
    voice('fable', 'neutral'),
    voice('nova', 'female'),
    voice('onyx', 'male'),
    voice('sage', 'female'),
    voice('shimmer', 'female'),
    voice('verse', 'male'),
  ],
  // Every server with this protocol supports this voice.
  defaultVoice: 'alloy',
}

const orpheusEnglish: TtsFamily = {
  responseFormat: 'wav',
  native: nativeSpeech,
  opus: false,
  instructions: false,
  speed: true,
  languages: ['en'],
  voices: [
    voice('autumn', 'female', 'en'),
    voice('diana', 'female', 'en'),
    voice('hannah', 'female', 'en'),
    voice('austin', 'male', 'en'),
    voice('daniel', 'male', 'en'),
    voice('troy', 'male', 'en'),
  ],
  defaultVoice: 'autumn',
}
const orpheusArabic: TtsFamily = { ...orpheusEnglish, languages: ['ar'], voices: [], defaultVoice: 'fahad' }

/** For these models `pcm` means 32-bit floats. Each voice speaks one language. */
const voxtral2: TtsFamily = {
  responseFormat: 'events',
  native: { encoding: 'pcm_f32le', sampleRateHz: 24_000, channels: 1 },
  opus: false,
  instructions: false,
  speed: false,
  languages: ['en', 'fr'],
  voices: [
    voice('en_paul_neutral', 'male', 'en-US', 'Paul'),
    voice('gb_jane_neutral', 'female', 'en-GB', 'Jane'),
    voice('gb_oliver_neutral', 'male', 'en-GB', 'Oliver'),
    voice('fr_marie_neutral', 'female', 'fr', 'Marie'),
  ],
  defaultVoice: 'en_paul_neutral',
}
const voxtral3: TtsFamily = {
  ...voxtral2,
  languages: ['en', 'fr', 'de', 'es', 'it', 'pt', 'ar'],
  voices: [
    ...voxtral2.voices,
    voice('voice_481', 'female', 'de', 'Fiona'),
    voice('voice_483', 'female', 'es', 'Esmeralda'),
    voice('voice_482', 'female', 'it', 'Andrea'),
    voice('voice_480', 'female', 'pt', 'Marina'),
    voice('voice_479', 'female', 'ar', 'Linda'),
  ],
}

/** The first letter in a voice's name is its language. */
const kokoro: TtsFamily = {
  ...openai,
  instructions: false,
  languages: ['en', 'es', 'fr', 'hi', 'it', 'ja', 'pt', 'zh'],
  voices: [
    voice('af_heart', 'female', 'en-US'),
    voice('am_michael', 'male', 'en-US'),
    voice('bf_emma', 'female', 'en-GB'),
    voice('bm_george', 'male', 'en-GB'),
    voice('ef_dora', 'female', 'es'),
    voice('ff_siwis', 'female', 'fr'),
    voice('hf_alpha', 'female', 'hi'),
    voice('if_sara', 'female', 'it'),
    voice('jf_alpha', 'female', 'ja'),
    voice('pf_dora', 'female', 'pt-BR'),
    voice('zf_xiaobei', 'female', 'zh'),
  ],
  defaultVoice: 'af_heart',
}

/** Maps a model id to its family. Each server serves one family. */
const families: readonly [RegExp, TtsFamily][] = [
  [/(^|\/)orpheus-arabic/, orpheusArabic],
  [/(^|\/)orpheus/, orpheusEnglish],
  [/(^|\/)voxtral-mini-tts-3/, voxtral3],
  [/(^|\/)voxtral.*tts/, voxtral2],
  [/(^|\/)kokoro/i, kokoro],
  [/(^|\/)tts-1/, { ...openai, instructions: false }],
]

export function ttsFamilyOf(model: string): TtsFamily {
  return families.find(([name]) => name.test(model))?.[1] ?? openai
}
