/** The page to talk to an agent: one session at a time. */
import { agents, createSession, models, turnsOf, useKey } from './agent-server.js'
import { Turns } from './agent-turns.js'
import { endWords } from './end-words.js'
import { conversationLanguages, voicesOf } from './languages.js'
import { connectedWords, microphoneFault, withoutMicrophone } from './microphone.js'
import { needsKey } from './reach.js'
import { startSession } from './session-client.js'
import { showWaterfalls } from './waterfall.js'

const element = (id) => document.getElementById(id)
const turns = new Turns()
const languageNames = new Intl.DisplayNames(['en'], { type: 'language' })
/** The stored agents by id. */
let stored = new Map()
/** The current session and its id; null between sessions. */
let session = null
let sessionId = null
/** The reason, as a text for the user, if there is no microphone; null if a microphone exists. */
let missing = withoutMicrophone({ isSecure: window.isSecureContext, devices: navigator.mediaDevices })

element('prompt').value = `You answer the phone of a bicycle shop. Be friendly and brief.
We are open from nine to six, and on Saturdays until two.
A new chain costs thirty euros, and changing it takes a day.
We do not repair motorcycles.`

void begin()

async function begin() {
  fillLanguages(conversationLanguages([]))
  if (missing !== null) say(`${missing} Press Talk all the same, and type.`, true)
  try {
    element('key-form').hidden = !needsKey()
    const served = await models()
    fillLanguages(conversationLanguages(served))
    fillVoices(served)
    const thinking = served.filter(({ stage, routable }) => stage === 'llm' && routable)
    fill('model', [['', 'auto'], ...thinking.map(({ id }) => [id, id])])
    if (element('key-form').hidden) fillAgents(await agents())
  } catch (error) {
    say(inWords(error), true)
  }
}

element('key-form').addEventListener('submit', (event) => {
  event.preventDefault()
  const key = element('key').value
  useKey(key.trim()).then(
    (found) => {
      element('key').value = ''
      fillAgents(found)
      sayAt('key-status', 'The key works.', false)
    },
    // The user may have replaced the key before the refusal came.
    (error) => element('key').value === key && sayAt('key-status', inWords(error), true),
  )
})

element('agent').addEventListener('change', () => {
  const agent = stored.get(element('agent').value) ?? null
  element('own').hidden = agent !== null
  element('prompt').required = agent === null
  element('stored').hidden = agent === null
  if (agent !== null) showAgent(agent)
})

element('start').addEventListener('submit', (event) => {
  event.preventDefault()
  if (session) session.hangUp()
  else void talk()
})

element('mute').addEventListener('click', () => {
  const isMuted = element('mute').getAttribute('aria-pressed') !== 'true'
  element('mute').setAttribute('aria-pressed', String(isMuted))
  session?.mute(isMuted)
})

element('type').addEventListener('submit', (event) => {
  event.preventDefault()
  const text = element('text').value.trim()
  if (text !== '' && session?.say(text)) element('text').value = ''
})

async function talk() {
  say('Starting …')
  element('talk').disabled = true
  turns.clear()
  showWaterfalls(element('latency'), [])
  try {
    const started = await createSession(wanted())
    sessionId = started.sessionId
    const joined = await join(started)
    // If the server refused the session, it is already over and `sessionId` is null. Then the session must not be
    // stored.
    if (sessionId !== null) session = joined
  } catch (error) {
    over({ error })
  }
  element('talk').disabled = false
}

function wanted() {
  const value = (id) => element(id).value
  if (value('agent') !== '') return { agentId: value('agent') }
  const { model, voice, first } = { model: value('model'), voice: value('voice'), first: value('first').trim() }
  return {
    systemPrompt: value('prompt'),
    language: value('language'),
    ...(first && { firstMessage: first }),
    ...(model && { model }),
    ...(voice && { voice }),
  }
}

/** Joins the session. Without a microphone the user types. */
async function join({ transportUrl, transportToken }) {
  const { prefix } = document.documentElement.dataset
  const options = { transportUrl, transportToken, prefix, on }
  const page = { isSecure: window.isSecureContext, devices: navigator.mediaDevices }
  missing = withoutMicrophone(page)
  if (missing === null)
    try {
      return await startSession(options)
    } catch (error) {
      missing = microphoneFault(error)
      if (missing === null) throw error
    }
  return startSession({ ...options, microphone: false })
}

const states = { listening: 'Listening', thinking: 'Thinking', speaking: 'Speaking' }

const on = {
  ready(frame) {
    show(true)
    showState('listening', states.listening)
    say(connectedWords(frame, missing))
    if (missing !== null) element('text').focus()
  },
  state: ({ value }) => showState(value, states[value]),
  transcript: ({ id, text, isFinal }) => turns.user(id, text, isFinal),
  user_message_echo: ({ text }) => turns.typed(text),
  agent_message(frame) {
    turns.agent(frame)
    if (frame.isFinal) void showLatency(sessionId)
  },
  played: (mark) => turns.played(mark),
  tool_call: ({ name, status }) => turns.event(`Tool ${name}: ${status}`),
  level(value) {
    element('level').value = value
  },
  error: ({ fatal, message, code }) => !fatal && say(`${message} (${code})`, true),
  lost() {
    showState('lost', 'Connection lost, trying again')
    say('The server does not answer.', true)
    element('level').value = 0
  },
  over,
}

function over({ reason = null, error = null }) {
  const id = sessionId
  session = null
  sessionId = null
  show(false)
  showState('off', 'Not connected')
  element('level').value = 0
  say(endWords(reason, error === null ? null : inWords(error)), reason === null || error !== null)
  if (reason !== null) void showLatency(id)
}

/** Shows the latencies. Waits first, because the server stores a turn a moment after the turn's last frame. */
async function showLatency(id) {
  await new Promise((resolve) => setTimeout(resolve, latencyAfterMs))
  const found = id === null ? null : await turnsOf(id).catch(() => null)
  // Another session may have begun meanwhile; its latencies must not be replaced.
  if (found === null || (sessionId !== null && id !== sessionId)) return
  showWaterfalls(element('latency'), found)
  element('scripted').hidden = !found.some(({ source, model }) => source === 'agent' && model === 'scripted')
}

const latencyAfterMs = 700

function show(isLive) {
  element('talk').setAttribute('aria-pressed', String(isLive))
  element('talk-label').textContent = isLive ? 'Hang up' : 'Talk'
  element('choices').disabled = isLive
  for (const id of ['text', 'send']) element(id).disabled = !isLive
  element('mute').disabled = !isLive || missing !== null
  element('level').hidden = isLive && missing !== null
  element('mute').setAttribute('aria-pressed', 'false')
}

function showState(state, text) {
  element('state').dataset.state = state
  element('state').textContent = text
}

function say(text, isFailure = false) {
  sayAt('status', text, isFailure)
}

function sayAt(id, text, isFailure) {
  element(id).textContent = text
  element(id).classList.toggle('failed', isFailure)
}

const inWords = (error) => error?.message ?? String(error)

function fillAgents(found) {
  stored = new Map(found.map((agent) => [agent.id, agent]))
  fill('agent', [['', 'Write one here'], ...found.map(({ id, name }) => [id, name])])
}

/** Shows the settings of a stored agent. Its text is shown as plain text and never as markup. */
function showAgent({ systemPrompt, firstMessage, language, model }) {
  const settings = {
    'What it knows and how it talks': systemPrompt,
    'What it says first': firstMessage || 'nothing, or what the model chooses',
    Language: languageNames.of(language),
    Model: model ?? 'auto',
  }
  const rows = Object.entries(settings).map(([name, text]) => {
    const row = document.createElement('div')
    for (const [tag, content] of [
      ['dt', name],
      ['dd', text],
    ])
      row.appendChild(document.createElement(tag)).textContent = content
    return row
  })
  element('stored').replaceChildren(...rows)
}

function fillLanguages(tags) {
  fill(
    'language',
    tags.map((tag) => [tag, languageNames.of(tag)]),
  )
}

/** Offers the voices for the chosen language, and again if the user chooses another language. */
function fillVoices(models) {
  const language = element('language')
  language.onchange = () => {
    const voices = voicesOf(models, language.value)
    fill('voice', [['', 'default'], ...voices.map(({ id, name }) => [id, name])])
  }
  language.onchange()
}

/** Fills a selection list and keeps the user's choice. */
function fill(id, options) {
  const select = element(id)
  const { value } = select
  select.replaceChildren(...options.map(([each, text]) => new Option(text, each)))
  select.value = value
  if (select.selectedIndex < 0) select.selectedIndex = 0
}
