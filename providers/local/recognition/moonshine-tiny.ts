import type { Recognizer } from './recognizer.ts'

export const moonshineTiny: Recognizer = {
  model: 'moonshine-tiny-en',
  entries: { recordings: 'stt-child', streams: 'stt-live-child' },
  // A recognition stops after its next token, about 10 ms.
  stopMs: 2000,
  languages: ['en'],
  // Measured: 0.07.
  expectedPerAudio: 0.1,
  benchmarks: [],
  files: null,
}
