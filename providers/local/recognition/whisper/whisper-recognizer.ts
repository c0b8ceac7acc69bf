/** Whisper base in the catalog. docs/embedded-speech.md says how its figures were measured. */
import type { Benchmark } from '../../../../domain/ports/model.ts'
import type { Recognizer } from '../recognizer.ts'
import { whisperLanguages } from './languages.ts'
import { whisperFiles } from './whisper-files.ts'

const measured = { source: 'Parley, recorded prompts', asOf: '2026-11', vendorReported: true } as const

export const whisperRecognizer: Recognizer = {
  model: whisperFiles.id,
  entries: { recordings: 'whisper-child', streams: 'whisper-live-child' },
  // The encoder takes 0.4 s for 30 s of audio on a free core.
  stopMs: 10_000,
  languages: whisperLanguages,
  // Measured: 0.05 to 0.07 on a free core.
  expectedPerAudio: 0.2,
  benchmarks: [...errorRates({ en: 2.1, it: 11.8, es: 12.3, fr: 18.0, ru: 23.7 })],
  // For English, Moonshine makes about as few errors in less time.
  scoredFor: ['quality'],
  files: whisperFiles,
}

function errorRates(percents: Readonly<Record<string, number>>): Benchmark[] {
  return Object.entries(percents).flatMap(([language, value]) =>
    (['batch', 'stream'] as const).map((path) => ({
      ...measured,
      metric: 'wer_pct',
      value,
      unit: 'percent',
      language,
      path,
    })),
  )
}
