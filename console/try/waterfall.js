/** The latency of each answer as a bar: what the time between the user's last word and the agent's first sound was spent on. */
const parts = [
  ['eou', 'noticing', 'eouMs'],
  ['llm', 'model', 'llmTtftMs'],
  ['tts', 'voice', 'ttsTtfbMs'],
]
/** The width of the longest bar shown, unless a turn took longer. */
const leastScaleMs = 1000

/** `turns` are those of the server. Turns without a latency, such as the first message, are left out. */
export function showWaterfalls(list, turns) {
  const timed = turns.filter(
    ({ source, conversationalLatencyMs }) => source === 'agent' && conversationalLatencyMs !== null,
  )
  const scaleMs = Math.max(leastScaleMs, ...timed.map(({ conversationalLatencyMs }) => conversationalLatencyMs))
  list.replaceChildren(...timed.map((turn, index) => row(turn, index + 1, scaleMs)))
}

function row(turn, number, scaleMs) {
  const totalMs = turn.conversationalLatencyMs
  const known = parts.flatMap(([kind, name, field]) => (turn[field] === null ? [] : [{ kind, name, ms: turn[field] }]))
  const restMs = totalMs - known.reduce((sum, { ms }) => sum + ms, 0)
  const all = restMs > 0 ? [...known, { kind: 'rest', name: 'rest', ms: restMs }] : known
  const line = document.createElement('li')
  const total = made('span', 'total', `${number}. ${rounded(totalMs)}`)
  const figures = made(
    'span',
    'figures',
    all.map(({ name, ms }) => `${name} ${rounded(ms)}`).join(' · ') + servedBy(turn),
  )
  line.append(total, bar(all, scaleMs), figures)
  return line
}

/** The figures beside it say the same in words. */
function bar(all, scaleMs) {
  const made = document.createElement('div')
  made.className = 'bar'
  made.setAttribute('aria-hidden', 'true')
  for (const { kind, ms } of all) {
    const part = document.createElement('span')
    part.className = kind
    part.style.width = `${(100 * ms) / scaleMs}%`
    made.append(part)
  }
  return made
}

const servedBy = ({ provider, model }) => (provider === null ? '' : ` · ${provider}:${model}`)
const rounded = (ms) => `${Math.round(ms)} ms`

function made(tag, className, text) {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}
