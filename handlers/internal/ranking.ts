/**
 * Makes the page that explains the ranking to a deployer. It reads the same tables as the ranking itself, so the page
 * and the ranking cannot differ.
 */
import type { CircuitLimits } from '../../domain/health/circuit.ts'
import type { Path, PriceUnit, Stage } from '../../domain/ports/model.ts'
import {
  axes,
  costMix,
  latencyMetrics,
  leading,
  measuredLatency,
  qualityMetrics,
  weights,
} from '../../domain/routing/weights.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import { isServedTo, type TryAccess } from './try-access.ts'

/** The deployer's settings, as the page shows them. */
export type RankingFacts = CircuitLimits & { hedges: boolean }

export function getRankingPage(facts: RankingFacts, access: TryAccess): Pick<InternalHandlers<null>, 'getRankingPage'> {
  const [withTry, withoutTry] = [true, false].map((hasTry) => Buffer.from(page(facts, hasTry))) as [Buffer, Buffer]
  return {
    getRankingPage: (_request, { peer }) => ({
      status: 200,
      headers,
      body: isServedTo(access, peer) ? withTry : withoutTry,
    }),
  }
}

const headers = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
} as const

const stages: Record<Stage, string> = { stt: 'Speech to text', tts: 'Text to speech', llm: 'Language models' }
const paths: Record<Path, string> = { stream: 'as a stream', batch: 'as a whole' }
/** The page's names for figures measured by this server. */
const measured = { firstByteMs: 'time to the first result', realTimeFactor: 'time for a second of audio' } as const
const units: Record<PriceUnit, string> = {
  audio_hour: 'an hour of audio',
  million_characters: 'a million characters',
  million_input_tokens: 'a million tokens that are read',
  million_cached_input_tokens: 'a million tokens that are read from a cache',
  million_output_tokens: 'a million tokens that are written',
  million_reasoning_tokens: 'a million tokens of reasoning',
}

/**
 * The page's style. It repeats the style of `/try`, because this page is served even if `/try` and its style sheet are
 * not.
 */
const style = `:root{color-scheme:light dark;--ground:#f6f5f2;--card:#fff;--ink:#1d1c1a;--faint:#66625b;--line:#dedad2;--accent:#0b6b5d}
@media(prefers-color-scheme:dark){:root{--ground:#161514;--card:#211f1d;--ink:#f0ede8;--faint:#a8a299;--line:#3a3733;--accent:#5cc8b5}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:70rem;padding:2rem 1.25rem 4rem;background:var(--ground);color:var(--ink);font:1rem/1.55 system-ui,sans-serif}
h1{margin:0;font-size:1.75rem;letter-spacing:-.02em}h2{margin:0 0 1rem;font-size:1.1rem}h3{margin:1.5rem 0 .5rem;font-size:1rem}
header p{margin:.25rem 0 1.5rem;color:var(--faint)}a{color:var(--accent)}
main{display:grid;grid-template-columns:minmax(0,1fr);gap:1.25rem}
section{min-width:0;padding:1.25rem;border:1px solid var(--line);border-radius:.9rem;background:var(--card)}
table{width:100%;margin:1rem 0;border-collapse:collapse;font-size:.875rem}
th,td{padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{color:var(--faint);font-weight:600}code{overflow-wrap:anywhere}li{margin-bottom:.5rem}
@media(max-width:30rem){section{padding:1rem}table{font-size:.75rem}th,td{padding-right:.35rem}ul{padding-left:1.25rem}}`

function page(facts: RankingFacts, hasTry: boolean): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>How models are ranked</title><link rel="icon" href="data:,"><style>${style}</style></head>
<body>
<header>
<h1>How models are ranked</h1>
<p>The weights, figures and rules of this server. ${hasTry ? '<a href="/try">Back to the page</a>' : ''}</p>
</header>
<main>
<section>
<h2>In short</h2>
<p>A request names an objective: ${code(Object.keys(weights))}. Models that the request cannot use are left out first, each with its reason: the routing or the key
does not allow them, they lack a language, voice, encoding or setting, or they cannot be called now. The rest get a score, and the best one serves.</p>
<p><code>GET /v1/routing/preview</code> and <code>parley preview</code> show the scores for a given request, with the figures and their sources.</p>
</section>
<section>
<h2>Weights</h2>
${table(
  ['objective', ...axes, 'must be known'],
  Object.entries(weights).map(([objective, weight]) => [
    objective,
    ...axes.map((axis) => String(weight[axis])),
    leading[objective as keyof typeof weights],
  ]),
)}
<ul>
<li>Each part is 1 for the best of the models and 0 for the worst.</li>
<li>The score is the weighted sum of the parts, multiplied by the share of recent attempts that have succeeded here.</li>
<li>A part without a figure adds nothing. If the part that must be known has no figure, the model has no score, and comes after the models with one.</li>
<li>Equal scores keep the order of the configuration.</li>
</ul>
</section>
<section>
<h2>Figures</h2>
${Object.entries(stages)
  .map(([stage, title]) => figuresOf(stage as Stage, title))
  .join('\n')}
</section>
<section>
<h2>Rules</h2>
<ul>
<li>Every figure has a source and a date. A language without figures of its own borrows none from another.</li>
<li>A figure that was measured on recordings never ranks a stream, nor the other way round.</li>
<li>Quality is compared on one scale at a time: one metric of one source. The scale is the nearest to the language of the request on which two providers
can be compared; if there are several, the one on which the most models have a figure. A vendor's figures for its models alone do not count.</li>
<li>A variety of a language (es-MX) is ranked by its figures, then by those of the base language. Models that say that they speak it go first.</li>
<li>Times that this service measured go before published ones. A sample's weight halves every two minutes, three are needed, and after ten minutes without one they are forgotten.</li>
<li>${facts.failuresMax} failures in a row open a model's circuit: it is left out for ${seconds(facts.openMs)}, twice as long each time up to ${seconds(facts.openMaxMs)}. Then one request at a time finds out whether it is back.</li>
<li>A provider that says when to come back (Retry-After) is left out for that time, for at most ${seconds(facts.retryAfterMaxMs)}.</li>
<li>A provider whose models fail one after the other is left out as a whole. While one model of a provider fails, all models of that provider come after those of other providers.</li>
<li>${facts.hedges ? 'Hedging is on: for the objective latency' : 'Hedging is off here. If it is on, for the objective latency'} a second model is asked when the first one is later than 95 of 100 of its recent answers (p95). The first to answer serves, and the other is cancelled.</li>
</ul>
</section>
</main>
</body></html>
`
}

function figuresOf(stage: Stage, title: string): string {
  const quality = qualityMetrics[stage].map(({ metric, better }) => [code([metric]), better])
  const latency = Object.entries(paths).map(([path, words]) => [
    words,
    measured[measuredLatency[stage][path as Path]],
    code(latencyMetrics[stage][path as Path]),
  ])
  const cost = costMix[stage].map(({ unit, share }) => [units[unit], String(share)])
  return `<h3>${title}</h3>
${table(['quality, the first that is known', 'better is'], quality)}
${table(['latency', 'measured here', 'published as'], latency)}
${table(['cost: the price of', 'share'], cost)}`
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((cell) => `<th scope="col">${cell}</th>`).join('')
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`
}

const code = (words: readonly string[]) => words.map((word) => `<code>${word}</code>`).join(', ')
const seconds = (ms: number) => `${ms / 1000} s`
