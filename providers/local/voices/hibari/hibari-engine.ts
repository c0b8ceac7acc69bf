import { sentences } from '../../../../domain/speech/reading/sentences.ts'
import type { VoiceEngine } from '../voice-engine.ts'
import { hibariRateHz } from './waveform.ts'

export const hibariEngine: VoiceEngine = {
  model: 'hibari',
  entry: 'hibari-child',
  sampleRateHz: hibariRateHz,
  languages: ['en'],
  voices: [{ id: 'heart', name: 'Heart', gender: 'female', styles: [], language: 'en' }],
  // A sentence of 120 characters is about eight seconds of speech, and the memory of the process grows with the length.
  sentenceCharsMax: 120,
  // About three seconds of speech.
  firstCharsMax: 50,
  // Measured on a busy core: 160 ms for 90 characters.
  expectedMsPerChar: 2,
  sentences: (text, charsMax, language) => sentences(text, { language, charsMax }),
}
