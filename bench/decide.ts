/** Times one routing decision. bench/decision.ts compiles this file as a build does. */

import { Catalog } from '../domain/catalog/catalog.ts'
import { Health } from '../domain/health/health.ts'
import { baseAsk } from '../domain/routing/ask.ts'
import { Chooser } from '../domain/routing/chooser.ts'
import { TestClock } from '../test/clock.ts'
import { caller, failure, healthLimits } from '../test/domain/fakes.ts'
import { tags, wideCatalog } from '../test/domain/wide-catalog.ts'
import { type Figure, median } from './figure.ts'

const rounds = 100

/** Decides among 500 models in one stage, for 50 languages in turn. */
export function timeDecisions(): Figure[] {
  const health = new Health(new TestClock(), healthLimits)
  const catalog = new Catalog(wideCatalog(() => 'stt'))
  const chooser = new Chooser({ catalog, health, testProviders: new Set() })
  const asks = tags.map((tag) => baseAsk(caller(), 'stt', { mode: 'auto', objective: 'balanced' }, tag))
  const [row] = catalog.stage('stt')
  if (!row) throw new Error('the catalog is empty')
  const anewUs: number[] = []
  const cachedUs: number[] = []
  for (let round = 0; round < rounds; round++)
    for (const ask of asks) {
      // A failure and then a success force all cached decisions to be computed again.
      health.begin(row, 'stream')?.failed(failure('server'))
      health.begin(row, 'stream')?.succeeded({})
      anewUs.push(timeUs(() => chooser.choose(ask)))
      cachedUs.push(timeUs(() => chooser.choose({ ...ask })))
    }
  const figure = (name: string, timesUs: number[]) => {
    // The decisions in the first half only warm up the compiler.
    const settled = timesUs.slice(timesUs.length / 2)
    const detail = `median of ${settled.length}; 500 models of one stage, ${tags.length} languages`
    return { name, value: median(settled), unit: 'us', bar: 50, detail }
  }
  return [figure('routing decision made anew', anewUs), figure('routing decision kept', cachedUs)]
}

function timeUs(run: () => unknown): number {
  const from = performance.now()
  run()
  return (performance.now() - from) * 1000
}
