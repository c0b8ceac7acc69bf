/**
 * The figures behind a candidate's score, each with its source and date. They explain a choice but do not decide it.
 */
import type { Row } from '../catalog/catalog.ts'
import type { Health } from '../health/health.ts'
import type { LiveFigures } from '../health/live-figures.ts'
import type { Benchmark, Path } from '../ports/model.ts'
import type { Ask } from './ask.ts'
import { figureOn, publishedLatency, type Scale } from './figure-table.ts'
import { type Axis, costMix, measuredLatency } from './weights.ts'

/** A figure in the explanation. `part` is the part of the score that it explains. A price is a figure in micro-USD. */
export type Evidence = Benchmark & { part: Axis | 'success_rate' }

/**
 * Returns the figures behind a row's score. A part has no evidence if there is no published figure for this language
 * and path, and this server has too few samples.
 */
export function evidenceOf(row: Row, { ask, scale }: { ask: Ask; scale: Scale | null }, health: Health): Evidence[] {
  const { stage, path, figuresLanguage } = ask
  const live = measuredBenchmarks(health.figures(row, path), path)
  const quality = scale && figureOn(row, path, figuresLanguage, scale)
  const measured = measuredLatency[stage][path] === 'realTimeFactor' ? 'real_time_factor' : 'first_byte_ms'
  const latency = live.find(({ metric }) => metric === measured) ?? publishedLatency(row, stage, path, figuresLanguage)
  const failures = live.find(({ metric }) => metric === 'error_rate')
  return [
    ...(quality ? [{ part: 'quality' as const, ...quality }] : []),
    ...(latency ? [{ part: 'latency' as const, ...latency }] : []),
    ...pricesOf(row, path, costMix[stage]),
    ...(failures ? [{ part: 'success_rate' as const, ...failures }] : []),
  ]
}

/** Converts live figures to the type of published figures. */
export function measuredBenchmarks(live: LiveFigures | null, path: Path): Benchmark[] {
  if (!live) return []
  const asOf = new Date(live.asOfMs).toISOString()
  const figure = (metric: string, value: number | null, unit: string): Benchmark[] =>
    value === null ? [] : [{ metric, value, unit, language: '*', path, source: 'measured', asOf }]
  return [
    ...figure('first_byte_ms', live.firstByteMs, 'ms'),
    ...figure('real_time_factor', live.realTimeFactor, 'ratio'),
    ...figure('error_rate', live.errorRate, 'ratio'),
  ]
}

function pricesOf({ prices }: Row, path: Path, mix: readonly { unit: string }[]): Evidence[] {
  return mix.flatMap(({ unit }) => {
    const price = prices[path].find((each) => each.unit === unit)
    if (!price || price.microUsd === null) return []
    const { source, sourceUrl, asOf } = price
    const figure = { metric: unit, value: price.microUsd, unit: 'micro_usd', language: '*', path, source, asOf }
    return [{ part: 'cost' as const, ...figure, ...(sourceUrl !== undefined && { sourceUrl }) }]
  })
}
