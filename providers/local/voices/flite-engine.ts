import { sentences } from '../../../domain/speech/reading/sentences.ts'
import { fliteRateHz } from './flite.ts'
import type { VoiceEngine } from './voice-engine.ts'

export const fliteEngine: VoiceEngine = {
  model: 'flite',
  entry: 'flite-child',
  sampleRateHz: fliteRateHz,
  languages: ['en'],
  voices: [
    { id: 'rms', name: 'RMS', gender: 'male', styles: [], language: 'en' },
    { id: 'slt', name: 'SLT', gender: 'female', styles: [], language: 'en' },
    { id: 'awb', name: 'AWB', gender: 'male', styles: [], language: 'en' },
    { id: 'kal16', name: 'Kal', gender: 'male', styles: [], language: 'en' },
  ],
  englishErrorsPercent: 6.8,
  sentenceCharsMax: 300,
  firstCharsMax: 300,
  // Measured on a busy core: 160 ms for 90 characters.
  expectedMsPerChar: 2,
  sentences: (text, charsMax, language) => sentences(text, { language, charsMax }),
}
