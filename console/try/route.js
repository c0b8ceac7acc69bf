/** Shows a run's figures: its times, the model that served the run, and the reasons for this model. */
import { element, routeOf } from './server.js'

/** Removes an earlier run's figures. */
export function clearFigures(stage) {
  element(`${stage}-times`).replaceChildren()
  element(`${stage}-route`).replaceChildren()
}

/** Shows a run's times. `entries` maps names to texts; `note` explains where the times start. */
export function showTimes(stage, entries, note) {
  const list = document.createElement('dl')
  list.append(...definitions(entries))
  const line = document.createElement('p')
  line.className = 'note'
  line.textContent = note
  element(`${stage}-times`).replaceChildren(list, line)
}

/**
 * Shows the route. `isCurrent` is called after the server's answer, because another run may have begun by then, or this
 * run may have failed.
 */
export async function showRoute(stage, ready, { model, language }, isCurrent) {
  const place = element(`${stage}-route`)
  const served = document.createElement('dl')
  served.append(
    ...definitions({
      Model: `${ready.provider}:${ready.model}`,
      Region: ready.region,
      Audio: `${ready.encoding}, ${ready.sampleRate} Hz`,
    }),
  )
  place.replaceChildren(served)
  if (model !== '') return
  const route = await routeOf(stage, language).catch(() => null)
  if (!route || !isCurrent()) return
  const { scores, excluded, objective } = route
  const figure = (value) => (value === null ? '–' : value.toFixed(2))
  const ranked = scores.map(({ id, score, parts }) => [
    id,
    ...[score, parts.quality, parts.latency, parts.cost].map(figure),
  ])
  const heads = ['Model', 'Score', 'Quality', 'Latency', 'Cost']
  if (ranked.length > 0) place.append(table(`In this order (${objective ?? 'pinned'})`, heads, ranked))
  if (excluded.length > 0) place.append(leftOut(excluded))
}

/**
 * Lists the excluded models with a count for each reason. The list is collapsed, because before the first vendor key is
 * set it has dozens of entries.
 */
function leftOut(excluded) {
  const rows = excluded.map(({ provider, model, reason, detail }) => [`${provider}:${model}`, wordsFor(reason, detail)])
  const counts = new Map()
  for (const [, words] of rows) counts.set(words, (counts.get(words) ?? 0) + 1)
  const most = [...counts].sort(([, one], [, other]) => other - one).slice(0, 2)
  const folded = document.createElement('details')
  const summary = document.createElement('summary')
  summary.textContent = `${rows.length} left out: ${most.map(([words, count]) => `${count} ${words}`).join(', ')}${counts.size > 2 ? ' …' : ''}`
  folded.append(summary, table('Left out', ['Model', 'Why'], rows))
  return folded
}

const reasons = {
  not_pinned: 'another model is pinned',
  not_allowed: 'not among the allowed providers',
  denied: 'denied',
  test_key: 'not for test keys',
  key_policy: 'the key does not allow it',
  language: 'does not know the language',
  voice: 'does not have the voice',
  encoding: 'cannot take or give this audio',
  unavailable: 'not available',
  credential_cooling: 'its key was refused a moment ago',
  circuit_open: 'it failed a moment ago',
}

function wordsFor(reason, detail) {
  if (detail === 'no_credential') return 'without a key of the provider'
  const words = reasons[reason] ?? reason.replace(/^capability:/, 'cannot do: ').replaceAll('_', ' ')
  return detail ? `${words} (${detail.replaceAll('_', ' ')})` : words
}

function definitions(entries) {
  return Object.entries(entries).map(([name, value]) => {
    const pair = document.createElement('div')
    pair.append(cell('dt', name), cell('dd', value ?? '–'))
    return pair
  })
}

function table(caption, heads, rows) {
  const made = document.createElement('table')
  made.createCaption().textContent = caption
  const head = made.createTHead().insertRow()
  for (const text of heads) head.append(cell('th', text, 'col'))
  const body = made.createTBody()
  for (const [first, ...others] of rows)
    body.insertRow().append(cell('th', first, 'row'), ...others.map((text) => cell('td', text)))
  return made
}

/** Makes a table cell. The server's text is shown as plain text and never as markup. */
function cell(tag, text, scope) {
  const made = document.createElement(tag)
  made.textContent = text
  if (scope) made.scope = scope
  return made
}
