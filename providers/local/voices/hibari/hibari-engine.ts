import { sentences } from '../../../../domain/speech/reading/sentences.ts'
import type { VoiceEngine } from '../voice-engine.ts'
import { hibariRateHz } from './waveform.ts'

export const hibariEngine: VoiceEngine = {
  model: 'hibari',
  entry: 'hibari-child',
  sampleRateHz: hibariRateHz,
  languages: ['en'],
  voices: [{ id: 'heart', name: 'Heart', gender: 'female', styles: [], language: 'en' }],
  englishErrorsPercent: 1.5,
  // The process needs more memory for longer sentences. This many characters are spoken in about eight seconds.
  sentenceCharsMax: 120,
  // This many characters are spoken in about three seconds.
  firstCharsMax: 50,
  // Measured on a busy core: 250 ms for 251 characters.
  expectedMsPerChar: 1,
  sentences: (text, charsMax, language) => sentences(text, { language, charsMax }),
}
