/**
 * 25 providers with 20 models each, for one stage (stt, llm or tts), with benchmark figures in 50 languages: the
 * largest catalog for one decision.
 */
import type { Model, Stage } from '../../domain/ports/model.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { model, provider } from './fakes.ts'

const languages =
  'ar bg bn ca cs da de el en es et eu fa fi fr gl gu he hi hr hu id it ja ko lt lv mr ms nb nl pl pt ro ru sk sl sr sv sw ta te th tl tr uk ur vi zh af'
export const tags = languages.split(' ')

/** Makes the catalog. `stageOf` returns the stage by model number. */
export function wideCatalog(stageOf: (model: number) => Stage): Provider[] {
  return Array.from({ length: 25 }, (_, p) =>
    provider(
      `p${p}`,
      Array.from({ length: 20 }, (_, m) => wideModel(stageOf(m), p, m)),
    ),
  )
}

function wideModel(stage: Stage, p: number, m: number): Model {
  const drawn = (tag: number, salt: number) => (p * 31 + m * 17 + tag * 7 + salt) % 97
  const figure = { path: 'batch' as const, asOf: '2026-01' }
  return model(stage, {
    id: `m${m}`,
    languages: tags.filter((_, tag) => drawn(tag, 1) > 9),
    benchmarks: tags.flatMap((language, i) => [
      {
        ...figure,
        metric: 'wer_pct',
        unit: 'percent',
        language,
        value: drawn(i, 2),
        source: drawn(i, 3) % 2 ? 'one' : 'two',
      },
      { ...figure, metric: 'real_time_factor', unit: 'ratio', language, value: drawn(i, 4) / 97, source: 'one' },
    ]),
    prices: [{ unit: 'audio_hour', microUsd: drawn(0, 5), source: 's', asOf: '2026-01' }],
  })
}
