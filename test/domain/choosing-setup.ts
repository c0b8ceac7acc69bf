/** Benchmark figures, prices and routing choices for tests of the model chooser. */
import type { Benchmark, Price, Stage } from '../../domain/ports/model.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { Routing } from '../../domain/routing/ask.ts'
import { type Ask, baseAsk } from '../../domain/routing/ask.ts'
import { bench, caller } from './fakes.ts'

export const auto = { mode: 'auto', objective: 'balanced' } satisfies Routing

export const pinned = (provider: string, model: string): Routing => ({ mode: 'explicit', provider, model })

export function figure(metric: string, value: number | null, over: Partial<Benchmark> = {}): Benchmark {
  return { metric, value, unit: 'x', language: 'en', path: 'stream', source: 's', asOf: '2026-01-01', ...over }
}

export function price(unit: Price['unit'], microUsd: number | null): Price {
  return { unit, microUsd, source: 's', asOf: '2026-01-01' }
}

export function pins(providers: Provider[], stage: Stage, over: Partial<Ask> = {}, who: Caller = caller()): string[] {
  const { chooser } = bench(providers)
  return chooser.choose({ ...baseAsk(who, stage, auto, undefined), ...over }).candidates.map(({ row }) => row.pin)
}
