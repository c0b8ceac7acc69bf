import { baseOf } from '../../../domain/catalog/language.ts'
import type { Voice } from '../../../domain/ports/model.ts'
import type { PlainSentence } from '../../../domain/speech/reading/sentences.ts'
import type { EngineEntry } from '../children/speech-engine-process.ts'

/** An embedded voice engine. Each engine is a model in the catalog and has a pool with its own child processes. */
export type VoiceEngine = {
  /** The model's id in the catalog. */
  model: string
  /** The entry file for the engine's child process. */
  entry: EngineEntry
  /** The engine's own sample rate. */
  sampleRateHz: number
  /** BCP 47 base languages. */
  languages: readonly string[]
  /** The first voice is the default voice. Each voice has a language. */
  voices: readonly [EngineVoice, ...EngineVoice[]]
  /** The percentage of English words that our recognizer mistakes in 85 telephone prompts spoken by the engine. */
  englishErrorsPercent: number
  /** The maximum number of characters in one job. */
  sentenceCharsMax: number
  /** A first sentence longer than this is cut after its first clause, so that its audio begins earlier. */
  firstCharsMax: number
  /** The expected synthesis time per character on a busy core. */
  expectedMsPerChar: number
  /**
   * Converts a text into sentences that the engine can speak. `language` is the voice's language, with the region if
   * the request has a region.
   */
  sentences: (text: string, charsMax: number, language: string) => PlainSentence[]
}

export type EngineVoice = Voice & { language: string }

/** An engine's own audio format, or its audio after a conversion to another rate. */
export const voiceFormat = (sampleRateHz: number) => ({ encoding: 'pcm_s16le', sampleRateHz, channels: 1 }) as const

/**
 * Returns the voice for a request: the named voice, or else the first voice that speaks the language, or else the
 * engine's default voice. Returns undefined if the engine has no voice with this name.
 */
export function voiceOf(
  { voices }: VoiceEngine,
  { voice, language }: { voice?: string; language?: string },
): EngineVoice | undefined {
  if (voice !== undefined) return voices.find(({ id }) => id === voice)
  const base = language === undefined ? undefined : baseOf(language)
  return voices.find((each) => each.language === base) ?? voices[0]
}

/** Returns the language for reading a text: the requested variety of the voice's language. */
export function readingLanguage({ language: own }: EngineVoice, requested: string | undefined): string {
  return requested !== undefined && baseOf(requested) === own ? requested : own
}
