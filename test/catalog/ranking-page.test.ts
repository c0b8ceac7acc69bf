/** The published page that explains the ranking of models shows every weight. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { axes, costMix, latencyMetrics, qualityMetrics, weights } from '../../domain/routing/weights.ts'
import { getRankingPage } from '../../handlers/internal/ranking.ts'

const facts = { failuresMax: 3, openMs: 2000, openMaxMs: 8000, retryAfterMaxMs: 60_000, hedges: false }

const access = { caller: () => null, headerPrefix: 'Service', isOpen: false }

function pageOf(over: Partial<typeof facts> = {}, address = '127.0.0.1'): string {
  const peer = { address, host: 'localhost:8080', origin: undefined, isForwarded: false }
  const answer = getRankingPage({ ...facts, ...over }, access).getRankingPage({} as never, { peer } as never)
  return Buffer.from((answer as { body: Uint8Array }).body).toString()
}

t.test('the ranking page shows every weight and every figure that ranks models', (t) => {
  const page = pageOf()
  for (const [objective, weight] of Object.entries(weights))
    t.match(page, `<td>${objective}</td>${axes.map((axis) => `<td>${weight[axis]}</td>`).join('')}`)
  for (const stage of ['stt', 'tts', 'llm'] as const) {
    for (const { metric } of qualityMetrics[stage]) t.match(page, `<code>${metric}</code>`)
    for (const path of ['stream', 'batch'] as const)
      t.match(page, latencyMetrics[stage][path].map((metric) => `<code>${metric}</code>`).join(', '))
    for (const { share } of costMix[stage]) t.match(page, `</td><td>${share}</td>`)
  }
  t.end()
})

t.test('the ranking page shows the settings of this deployment', (t) => {
  t.match(
    pageOf(),
    /3 failures in a row open a model's circuit: it is left out for 2 s, twice as long each time up to 8 s/,
  )
  t.match(pageOf(), /Retry-After\) is left out for that time, for at most 60 s/)
  t.match(pageOf(), 'Hedging is off here.')
  t.match(pageOf({ hedges: true }), 'Hedging is on:')
  t.notMatch(pageOf(), /undefined|NaN|\[object/)
  t.end()
})

t.test('the ranking page has the style of /try, shows no identifiers, and links to /try if /try is served', (t) => {
  const page = pageOf()
  t.equal(page.match(/<main>/g)?.length, 1)
  t.match(page, '<meta name="viewport" content="width=device-width, initial-scale=1">')
  t.notMatch(
    page,
    /<th[^>]*><\/th>|firstByteMs|realTimeFactor|million_|audio_hour/,
    'no empty head, and no name of code',
  )
  t.match(page, '<a href="/try">')
  t.notMatch(pageOf({}, '192.0.2.7'), 'href="/try"')
  const sheet = readFileSync(path.resolve(import.meta.dirname, '../../console/tokens.css'), 'utf8')
  for (const [, name, value] of page.matchAll(/--(\w+):(#\w+)/g)) {
    const whole = value?.replace(/^#(\w)(\w)(\w)$/, '#$1$1$2$2$3$3')
    t.match(sheet, new RegExp(`--${name}: light-dark\\(.*${whole}`), 'the colours are those of /try')
  }
  t.end()
})
