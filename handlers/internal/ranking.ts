/**
 * The page that explains how candidates are ranked, so that a deployer can check a choice. It reads its numbers from the tables that the
 * ranking reads, so the two cannot differ.
 */
import type { Path, Stage } from '../../domain/catalog/model.ts'
import type { CircuitLimits } from '../../domain/health/circuit.ts'
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

/** The settings of a deployer that the page names. */
export type RankingFacts = CircuitLimits & { hedges: boolean }

export function getRankingPage(facts: RankingFacts): Pick<InternalHandlers<null>, 'getRankingPage'> {
  const body = Buffer.from(page(facts))
  return { getRankingPage: () => ({ status: 200, headers, body }) }
}

const headers = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
} as const

const stages: Record<Stage, string> = { stt: 'Speech to text', tts: 'Text to speech', llm: 'Language models' }
const paths: readonly Path[] = ['stream', 'batch']

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1c2024;background:#fff}' +
  'table{border-collapse:collapse;margin:1rem 0}td,th{border:1px solid #d5d9de;padding:.3rem .6rem;text-align:left}' +
  'code{background:#f1f3f5;padding:0 .2rem}@media(prefers-color-scheme:dark){body{color:#e6e8ea;background:#15181b}' +
  'td,th{border-color:#3a4047}code{background:#24292e}}'

function page(facts: RankingFacts): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Ranking</title><style>${style}</style></head>
<body>
<h1>How candidates are ranked</h1>
<p>A request names an objective: ${code(Object.keys(weights))}. Models that it cannot use are left out first, each with its reason: what the routing allows,
what the key may reach, what was asked (capabilities, settings, language, voice, encoding), and what can be called now (credential, circuit).
The rest is scored. <code>GET /v1/routing/preview</code> and <code>parley preview</code> show all of it for a given request, figures and their sources included.</p>

<h2>Weights</h2>
${table(
  ['objective', ...axes, 'must be known'],
  Object.entries(weights).map(([objective, weight]) => [
    objective,
    ...axes.map((axis) => String(weight[axis])),
    leading[objective as keyof typeof weights],
  ]),
)}
<p>Each part is 1 for the best of the candidates and 0 for the worst. The score is the weighted sum of the parts, multiplied by the success rate: the part
of the recent attempts that has succeeded here. A part without a figure adds nothing; without the part that must be known there is no score, and the model
comes after those that have one. Equal scores keep the order of the configuration.</p>

<h2>Figures</h2>
${Object.entries(stages)
  .map(([stage, title]) => figuresOf(stage as Stage, title))
  .join('\n')}

<h2>Rules</h2>
<ul>
<li>Every figure has a source and a date; what no source says is left out. A language without figures of its own borrows none from another.</li>
<li>What was measured on recordings never ranks a stream, nor the other way round.</li>
<li>Quality is read on one scale at a time, one metric of one source: the nearest to the language asked for on which two providers can be compared, and of
those the one that most candidates have a figure on. What a vendor says of its own models alone compares it with nobody, and does not count.</li>
<li>A variety (es-MX) is ranked by figures of its own, then by those of its base language. Models that say that they speak it go first.</li>
<li>Times that this service measured go before published ones. A sample's weight halves every two minutes, three are needed, and after ten minutes without one they are forgotten.</li>
<li>${facts.failuresMax} failures in a row open a model's circuit for ${seconds(facts.openMs)}, twice as long each time up to ${seconds(facts.openMaxMs)}; then one request at a time finds out whether it is back.
A provider that says when to come back (Retry-After) is left for that time from its first such answer on, for at most ${seconds(facts.retryAfterMaxMs)}.
A provider whose models fail one after the other is left as a whole. While one of its models alone fails it stands behind everybody else.</li>
<li>${facts.hedges ? 'Hedging is on: for the objective latency' : 'Hedging is off here. Where it is on, for the objective latency'} a second candidate is asked when the first is later than 95 of 100 of its recent answers; the first to answer serves, the other is cancelled.</li>
</ul>
</body></html>
`
}

function figuresOf(stage: Stage, title: string): string {
  const quality = qualityMetrics[stage].map(({ metric, better }) => [metric, `${better} is better`])
  const latency = paths.map((path) => [path, measuredLatency[stage][path], latencyMetrics[stage][path].join(', ')])
  const cost = costMix[stage].map(({ unit, share }) => [unit, String(share)])
  return `<h3>${title}</h3>
${table(['quality, in order of preference', ''], quality)}
${table(['latency', 'measured here', 'published'], latency)}
${table(['cost: price of', 'share'], cost)}`
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((cell) => `<th>${cell}</th>`).join('')
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`
}

const code = (words: readonly string[]) => words.map((word) => `<code>${word}</code>`).join(', ')
const seconds = (ms: number) => `${ms / 1000} s`
