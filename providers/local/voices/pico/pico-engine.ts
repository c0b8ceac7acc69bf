import { sentences } from '../../../../domain/speech/reading/sentences.ts'
import type { EngineVoice, VoiceEngine } from '../voice-engine.ts'
import { type PicoVoiceId, picoRateHz } from './pico-data.ts'

const voice = (id: PicoVoiceId, name: string, language: string): EngineVoice => ({
  id,
  name,
  gender: 'female',
  styles: [],
  // Without a region, because a model that lists the requested region ranks before all others.
  language,
})

export const picoEngine: VoiceEngine = {
  model: 'pico',
  entry: 'pico-child',
  sampleRateHz: picoRateHz,
  languages: ['de', 'es', 'fr', 'it', 'en'],
  voices: [
    voice('de-DE', 'Pico German', 'de'),
    voice('es-ES', 'Pico Spanish', 'es'),
    voice('fr-FR', 'Pico French', 'fr'),
    voice('it-IT', 'Pico Italian', 'it'),
    voice('en-GB', 'Pico British English', 'en'),
  ],
  englishErrorsPercent: 8.3,
  sentenceCharsMax: 300,
  // About five seconds of speech.
  firstCharsMax: 80,
  // Measured on a busy core: 490 ms for 234 characters.
  expectedMsPerChar: 2,
  // The English voice is British, which matters for dates.
  sentences: (text, charsMax, language) =>
    sentences(text, { language: language === 'en' ? 'en-GB' : language, charsMax }),
}
