/** The cost of one routing decision in the compiled code, because a loader that compiles sources makes closures slower. */

import type * as Catalogs from '../domain/catalog/catalog.ts'
import type * as Healths from '../domain/health/health.ts'
import type * as Asks from '../domain/routing/ask.ts'
import type * as Choosers from '../domain/routing/chooser.ts'
import { caller, failure, healthLimits, ManualClock } from '../test/domain/fakes.ts'
import { tags, wideCatalog } from '../test/domain/wide-catalog.ts'
import { type Figure, median } from './figure.ts'

/** The compiled code is built before the bench starts, and TypeScript has no types of it. */
const served = (file: string): Promise<unknown> => import(`../dist/domain/${file}.js`)
const { baseAsk } = (await served('routing/ask')) as typeof Asks
const { Catalog } = (await served('catalog/catalog')) as typeof Catalogs
const { Chooser } = (await served('routing/chooser')) as typeof Choosers
const { Health } = (await served('health/health')) as typeof Healths

const rounds = 100

/** Decides among 500 models of one stage, for 50 languages in turn. */
export function decisionTime(): Promise<Figure[]> {
  const health = new Health(new ManualClock(), healthLimits)
  const catalog = new Catalog(wideCatalog(() => 'stt'))
  const chooser = new Chooser({ catalog, health, testProviders: new Set() })
  const asks = tags.map((tag) => baseAsk(caller(), 'stt', { mode: 'auto', objective: 'balanced' }, tag))
  const [row] = catalog.stage('stt')
  if (!row) throw new Error('the catalog is empty')
  const anewUs: number[] = []
  const keptUs: number[] = []
  for (let round = 0; round < rounds; round++)
    for (const ask of asks) {
      // A failure and a success after it: all cached decisions are computed again.
      health.begin(row, 'stream')?.failed(failure('server'))
      health.begin(row, 'stream')?.succeeded({})
      anewUs.push(timeUs(() => chooser.choose(ask)))
      keptUs.push(timeUs(() => chooser.choose({ ...ask })))
    }
  const figure = (name: string, timesUs: number[]) => {
    // The first half of the decisions only warms up the compiler.
    const settled = timesUs.slice(timesUs.length / 2)
    const detail = `median of ${settled.length}; 500 models of one stage, ${tags.length} languages`
    return { name, value: median(settled), unit: 'us', bar: 50, detail }
  }
  return Promise.resolve([figure('routing decision made anew', anewUs), figure('routing decision kept', keptUs)])
}

function timeUs(run: () => unknown): number {
  const from = performance.now()
  run()
  return (performance.now() - from) * 1000
}
