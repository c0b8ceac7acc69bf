/** The microphone page: one socket for each recording and each spoken text, each opened with a new token. */

const element = (id) => document.getElementById(id)

/** Opens a socket whose token is among the subprotocols, because a page cannot set headers. `onFrame` gets JSON frames, `onAudio` bytes. */
async function openSocket(path, { onFrame, onAudio, onClosed }) {
  const answer = await fetch('/try/token', { method: 'POST' })
  if (!answer.ok) throw new Error(`The server gave no token (${answer.status}).`)
  const { client_secret: secret, subprotocol, credential_prefix: prefix } = await answer.json()
  const address = new URL(path, location.href.replace(/^http/, 'ws'))
  const socket = new WebSocket(address, [subprotocol, prefix + secret.value])
  socket.binaryType = 'arraybuffer'
  // Whether either side has announced the end. A socket that closes without that was lost.
  let isOver = false
  socket.onmessage = ({ data }) => {
    if (typeof data !== 'string') return onAudio(data)
    const frame = JSON.parse(data)
    isOver ||= frame.type === 'end' || frame.type === 'error'
    onFrame(frame)
  }
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    // Browsers do not show a page the reason for a refused upgrade.
    socket.onclose = () =>
      reject(new Error('The server refused the socket: no provider for this, or too many sockets.'))
  })
  socket.onclose = () => onClosed(isOver ? null : 'The connection was lost.')
  const send = (frame) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(frame instanceof ArrayBuffer ? frame : JSON.stringify(frame))
  }
  const close = () => {
    isOver = true
    socket.close()
  }
  return { send, close }
}

function say(id, text, failed = false) {
  const status = element(id)
  status.textContent = text
  status.classList.toggle('failed', failed)
}

const inWords = (error) =>
  error?.name === 'NotAllowedError' ? 'The microphone was not allowed.' : (error?.message ?? String(error))

/* Speech to text */

/** The recording under way; null between recordings. */
let recording = null

element('speak').addEventListener('click', () => {
  if (recording) recording.stop()
  else void record()
})

async function record() {
  const language = element('stt-language').value.trim()
  element('transcript').replaceChildren()
  showSpeaking(true)
  say('stt-status', 'Opening the microphone …')
  const parts = { stream: null, context: null, socket: null, source: null }
  recording = { stop: () => finish(parts) }
  try {
    parts.stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } })
    parts.context = await listenTo(parts.stream)
    parts.socket = await openSocket('/v1/transcribe/stream', {
      onFrame: (frame) => onTranscriptFrame(frame, language),
      onClosed: (problem) => {
        release(parts)
        if (problem) say('stt-status', problem, true)
      },
    })
    // The recording was stopped before it began.
    if (!recording) return release(parts)
    parts.socket.send({
      type: 'config',
      ...(language && { language }),
      encoding: 'pcm_s16le',
      sampleRate: parts.context.sampleRate,
      channels: 1,
      interimResults: true,
    })
    capture(parts)
  } catch (error) {
    release(parts)
    say('stt-status', inWords(error), true)
  }
}

/** Opens the audio context at 16 kHz for recognition, or at the rate of the microphone where the browser does not convert. */
async function listenTo(stream) {
  let context = new AudioContext({ sampleRate: 16000 })
  try {
    context.createMediaStreamSource(stream)
  } catch {
    await context.close()
    context = new AudioContext()
  }
  await context.audioWorklet.addModule('/try/worklet.js')
  await context.resume()
  return context
}

function capture(parts) {
  const { context, stream, socket } = parts
  const microphone = new AudioWorkletNode(context, 'microphone')
  microphone.port.onmessage = ({ data }) => {
    if (!recording) return
    element('level').value = loudness(data)
    socket.send(data)
  }
  // The reference is kept because the browser's garbage collection would silence an unreferenced node.
  parts.source = context.createMediaStreamSource(stream)
  parts.source.connect(microphone)
}

/** Computes the loudness of one frame, from 0 to 1. */
function loudness(frame) {
  const peak = new Int16Array(frame).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
  return Math.sqrt(peak / 32768)
}

/** Stops the microphone at once. The socket stays open for the last transcript. */
function finish({ stream, socket }) {
  recording = null
  showSpeaking(false)
  for (const track of stream?.getTracks() ?? []) track.stop()
  socket?.send({ type: 'end' })
  say('stt-status', 'Finishing …')
}

function release({ stream, context, socket }) {
  recording = null
  showSpeaking(false)
  for (const track of stream?.getTracks() ?? []) track.stop()
  if (context && context.state !== 'closed') void context.close()
  socket?.close()
}

function showSpeaking(speaking) {
  element('speak').setAttribute('aria-pressed', String(speaking))
  element('speak-label').textContent = speaking ? 'Stop' : 'Speak'
  element('level').value = 0
}

function onTranscriptFrame(frame, language) {
  if (frame.type === 'ready') {
    say('stt-status', 'Listening.')
    void showRoute('stt', frame, language)
  } else if (frame.type === 'transcript') showTranscript(frame)
  else if (frame.type === 'error') say('stt-status', `${frame.message} (${frame.code})`, true)
  else if (frame.type === 'end') say('stt-status', 'Done.')
}

/** Shows each utterance as one paragraph, grey while it may still change. */
function showTranscript({ id, text, isFinal }) {
  const log = element('transcript')
  const known = [...log.children].find((line) => line.dataset.utterance === id)
  const line = known ?? log.appendChild(document.createElement('p'))
  line.dataset.utterance = id
  line.className = isFinal ? 'final' : 'partial'
  line.textContent = text
  log.scrollTop = log.scrollHeight
}

/* Text to speech */

const rateHz = 24000
/** The playout under way; null between texts. */
let speech = null

element('say').addEventListener('submit', (event) => {
  event.preventDefault()
  void speak(element('text').value, element('voice').value.trim(), element('tts-language').value.trim())
})
element('stop').addEventListener('click', () => speech?.stop())

async function speak(text, voice, language) {
  speech?.end()
  const player = createPlayer()
  const own = { socket: null, stop: () => {}, end: () => {} }
  speech = own
  element('stop').disabled = false
  say('tts-status', 'Opening …')
  own.end = () => {
    player.close()
    own.socket?.close()
    if (speech !== own) return
    speech = null
    element('stop').disabled = true
  }
  own.stop = () => {
    player.clear()
    // The server drops audio that it has not sent yet, and answers how much it had sent.
    if (own.socket) own.socket.send({ type: 'clear' })
    else own.end()
  }
  try {
    own.socket = await openSocket('/v1/synthesize/stream', {
      onAudio: (bytes) => player.play(bytes),
      onFrame: (frame) => {
        onSpeechFrame(frame, language)
        if (frame.type === 'cleared') own.end()
      },
      onClosed: (problem) => {
        player.whenSilent(own.end)
        if (problem) say('tts-status', problem, true)
      },
    })
    if (speech !== own) return own.end()
    own.socket.send({
      type: 'config',
      ...(voice && { voice }),
      ...(language && { language }),
      encoding: 'pcm_s16le',
      sampleRate: rateHz,
    })
    own.socket.send({ type: 'text', text, flush: true })
    own.socket.send({ type: 'end' })
  } catch (error) {
    own.end()
    say('tts-status', inWords(error), true)
  }
}

function onSpeechFrame(frame, language) {
  if (frame.type === 'ready') {
    say('tts-status', 'Speaking.')
    void showRoute('tts', frame, language)
  } else if (frame.type === 'cleared') say('tts-status', `Stopped after ${frame.charactersSent} characters.`)
  else if (frame.type === 'error') say('tts-status', `${frame.message} (${frame.code})`, true)
  else if (frame.type === 'end') say('tts-status', 'Done.')
}

/** Plays PCM as it arrives, each piece right after the one before. */
function createPlayer() {
  const context = new AudioContext({ sampleRate: rateHz })
  let sources = []
  let untilS = 0
  let silent = null

  function ended(source) {
    sources = sources.filter((other) => other !== source)
    if (sources.length === 0) silent?.()
  }

  return {
    play(bytes) {
      const samples = new Int16Array(bytes, 0, bytes.byteLength >> 1)
      if (samples.length === 0 || context.state === 'closed') return
      const buffer = context.createBuffer(1, samples.length, rateHz)
      buffer.copyToChannel(
        Float32Array.from(samples, (sample) => sample / 32768),
        0,
      )
      const source = new AudioBufferSourceNode(context, { buffer })
      source.connect(context.destination)
      source.onended = () => ended(source)
      // Playout starts with a short delay, so that a late piece does not cause a gap at once.
      untilS = Math.max(untilS, context.currentTime + 0.05)
      source.start(untilS)
      untilS += buffer.duration
      sources.push(source)
    },
    clear() {
      for (const source of sources) source.stop()
      untilS = 0
    },
    whenSilent(run) {
      silent = run
      if (sources.length === 0) run()
    },
    close() {
      silent = null
      if (context.state !== 'closed') void context.close()
    },
  }
}

/* The route and why */

async function showRoute(stage, ready, language) {
  const place = element(`${stage}-route`)
  place.replaceChildren(
    facts({
      Provider: ready.provider,
      Model: ready.model,
      Region: ready.region,
      Audio: `${ready.encoding}, ${ready.sampleRate} Hz`,
    }),
  )
  const query = new URLSearchParams({ stage, ...(language && { language }) })
  const answer = await fetch(`/try/route?${query}`)
  if (!answer.ok) return
  const { scores, excluded, objective } = await answer.json()
  const figure = (value) => (value === null ? '–' : value.toFixed(2))
  const ranked = scores.map(({ id, score, parts }) => [id, score, parts.quality, parts.latency, parts.cost])
  if (ranked.length > 0) {
    const rows = ranked.map(([id, ...figures]) => [id, ...figures.map(figure)])
    place.append(
      table(`In this order (${objective ?? 'pinned'})`, ['Model', 'Score', 'Quality', 'Latency', 'Cost'], rows),
    )
  }
  if (excluded.length > 0) {
    const rows = excluded.map(({ provider, model, reason, detail }) => [
      `${provider}:${model}`,
      wordsFor(reason, detail),
    ])
    place.append(table('Left out', ['Model', 'Why'], rows))
  }
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
  const words = reasons[reason] ?? reason.replace(/^capability:/, 'cannot do: ').replaceAll('_', ' ')
  return detail ? `${words} (${detail.replaceAll('_', ' ')})` : words
}

function facts(entries) {
  const list = document.createElement('dl')
  for (const [name, value] of Object.entries(entries)) list.append(cell('dt', name), cell('dd', value ?? '–'))
  return list
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

/** Shows the server's words as text and never as markup. */
function cell(tag, text, scope) {
  const made = document.createElement(tag)
  made.textContent = text
  if (scope) made.scope = scope
  return made
}
