/** Draws each answer's latency as a bar, with the parts between the user's last word and the agent's first sound. */
const parts = [
  ['eou', 'noticing', 'eouMs'],
  ['llm', 'model', 'llmTtftMs'],
  ['tts', 'voice', 'ttsTtfbMs'],
]
/** The time at the scale's end. If a turn took longer, the scale is longer. */
const leastScaleMs = 1000

/**
 * Shows a bar for each turn. `turns` come from the server. Turns without a latency, such as the first message, are left
 * out.
 */
export function showWaterfalls(list, turns) {
  const timed = turns.filter(
    ({ source, conversationalLatencyMs }) => source === 'agent' && conversationalLatencyMs !== null,
  )
  const scaleMs = Math.max(leastScaleMs, ...timed.map(({ conversationalLatencyMs }) => conversationalLatencyMs))
  list.replaceChildren(...timed.map((turn, index) => row(turn, index + 1, scaleMs)))
}

function row(turn, number, scaleMs) {
  const totalMs = turn.conversationalLatencyMs
  const all = shares(turn, totalMs)
  const line = document.createElement('li')
  const total = made('span', 'total', `${number}. ${rounded(totalMs)}`)
  const words = all.map(({ name, ms, waitedMs }) => `${name} ${rounded(ms)}${early(ms - waitedMs)}`)
  line.append(total, bar(all, scaleMs), made('span', 'figures', words.join(' · ') + servedBy(turn)))
  return line
}

/**
 * Returns the latency's parts one after the other. If a part began before the user stopped speaking, only the time
 * after the user's end counts.
 */
function shares(turn, totalMs) {
  let leftMs = totalMs
  const all = []
  for (const [kind, name, field] of parts) {
    if (turn[field] === null) continue
    const waitedMs = Math.min(turn[field], leftMs)
    all.push({ kind, name, ms: turn[field], waitedMs })
    leftMs -= waitedMs
  }
  return leftMs < 1 ? all : [...all, { kind: 'rest', name: 'rest', ms: leftMs, waitedMs: leftMs }]
}

const early = (ms) => (ms < 1 ? '' : ` (${rounded(ms)} of it before you were done)`)

/** Draws the bar. The bar is hidden from screen readers, because the text beside it contains the same figures. */
function bar(all, scaleMs) {
  const made = document.createElement('div')
  made.className = 'bar'
  made.setAttribute('aria-hidden', 'true')
  for (const { kind, waitedMs } of all) {
    const part = document.createElement('span')
    part.className = kind
    part.style.width = `${(100 * waitedMs) / scaleMs}%`
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
