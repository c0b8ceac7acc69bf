/** The published page shows the weights that the ranking reads. */
import t from 'tap'
import { axes, costMix, latencyMetrics, qualityMetrics, weights } from '../../domain/routing/weights.ts'
import { getRankingPage } from '../../handlers/internal/ranking.ts'

const facts = { failuresMax: 3, openMs: 2000, openMaxMs: 8000, retryAfterMaxMs: 60_000, hedges: false }

function pageOf(over: Partial<typeof facts> = {}): string {
  const answer = getRankingPage({ ...facts, ...over }).getRankingPage({} as never, {} as never)
  return Buffer.from((answer as { body: Uint8Array }).body).toString()
}

t.test('every weight and every figure that counts is on the page', (t) => {
  const page = pageOf()
  for (const [objective, weight] of Object.entries(weights))
    t.match(page, `<td>${objective}</td>${axes.map((axis) => `<td>${weight[axis]}</td>`).join('')}`)
  for (const stage of ['stt', 'tts', 'llm'] as const) {
    for (const { metric } of qualityMetrics[stage]) t.match(page, `<td>${metric}</td>`)
    for (const path of ['stream', 'batch'] as const) t.match(page, latencyMetrics[stage][path].join(', '))
    for (const { unit, share } of costMix[stage]) t.match(page, `<td>${unit}</td><td>${share}</td>`)
  }
  t.end()
})

t.test('it says what this deployer set', (t) => {
  t.match(pageOf(), /3 failures in a row open a model's circuit for 2 s, twice as long each time up to 8 s/)
  t.match(pageOf(), /Retry-After\) is left for that time from its first such answer on, for at most 60 s/)
  t.match(pageOf(), 'Hedging is off here.')
  t.match(pageOf({ hedges: true }), 'Hedging is on:')
  t.notMatch(pageOf(), /undefined|NaN|\[object/)
  t.end()
})
