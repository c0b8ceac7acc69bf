/**
 * A provider for benchmarks. It answers from the request alone, without a network or a model, so a benchmark measures
 * only the server. Speech to text returns the audio's first bytes, text to speech returns a tone as long as the text,
 * and the language model repeats the text.
 */
import { type Model, noCapabilities, type Price, type PriceUnit, type Stage } from '../../domain/ports/model.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { loopbackLlm } from './llm.ts'
import { loopbackStt } from './stt.ts'
import { loopbackTts, loopbackVoice } from './tts.ts'

/**
 * Creates a provider. Each stage (speech to text, LLM, text to speech) has one model `loopback`, unless the
 * configuration names other models.
 */
export function createLoopbackProvider(options: {
  id: string
  models?: { llm?: readonly string[]; stt?: readonly string[]; tts?: readonly string[] }
}): Provider {
  const models = (['stt', 'tts', 'llm'] as const).flatMap((stage) =>
    (options.models?.[stage] ?? ['loopback']).map((id) => row(options.id, id, stage)),
  )
  return {
    id: options.id,
    models,
    unavailable: () => null,
    ports: { speech: { stt: loopbackStt, tts: loopbackTts }, llm: loopbackLlm },
    close: () => Promise.resolve(),
  }
}

function row(provider: string, id: string, stage: Stage): Model {
  const anyRate = { sampleRateRangeHz: { min: 8000, max: 192_000 }, channels: [1, 2, 3, 4, 5, 6, 7, 8] }
  const encodings = stage === 'llm' ? [] : stage === 'tts' ? emitted : [...emitted, ...readOnly]
  return {
    provider,
    id,
    stage,
    capabilities: { ...noCapabilities, batch: true, streaming: true },
    languages: ['*'],
    audioFormats: encodings.map((encoding) => ({ encoding, ...anyRate })),
    voices: stage === 'tts' ? [loopbackVoice] : [],
    providerOptions: [],
    benchmarks: [],
    prices: units[stage].map(free),
    // Auto routing chooses this model last, because a request for real speech should not be answered with a tone.
    lastResort: true,
  }
}

const emitted = ['pcm_s16le', 'pcm_f32le']
const readOnly = ['pcm_u8', 'pcm_s24le', 'pcm_s32le', 'mulaw', 'alaw', 'opus', 'flac', 'mp3']
const units: Record<Stage, PriceUnit[]> = {
  stt: ['audio_hour'],
  tts: ['million_characters'],
  llm: ['million_input_tokens', 'million_output_tokens'],
}
const free = (unit: PriceUnit): Price => ({ unit, microUsd: 0, source: 'built in', asOf: '2026-11-21' })
