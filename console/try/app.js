/** The microphone page: one socket for each recording and each spoken text, each opened with a new token. */
import { capture, createPlayer, decode, fileRateHz, listenTo, loudness, wavOf } from './audio.js'
import { copy, offerPrograms } from './copying.js'
import { fillLists } from './lists.js'
import { needsKey } from './reach.js'
import { clearFigures, showRoute, showTimes } from './route.js'
import { saveAs } from './saving.js'
import { element, inWords, models, openSocket, say, useKey } from './server.js'

const value = (id) => element(id).value
const sttChoice = () => ({ model: value('stt-model'), language: value('stt-language') })
const ttsChoice = () => ({ model: value('tts-model'), voice: value('tts-voice'), language: value('tts-language') })
const inTime = (ms) => (ms < 1000 ? `${Math.max(0, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`)

void begin()

async function begin() {
  if (!window.isSecureContext) say('stt-status', 'The microphone needs HTTPS; recordings work without.', true)
  try {
    element('key-form').hidden = !needsKey()
    fillLists(await models())
  } catch (error) {
    say('stt-status', inWords(error), true)
  }
}

element('key-form').addEventListener('submit', (event) => {
  event.preventDefault()
  const key = value('key')
  useKey(key.trim()).then(
    () => {
      element('key').value = ''
      say('key-status', 'The key works.')
    },
    // The user may have replaced the key before the refusal came.
    (error) => value('key') === key && say('key-status', inWords(error), true),
  )
})

/* Speech to text */

/** The current run, from the microphone or a recording; null between runs. */
let run = null
/** The newest run. After its end, its route may still be shown. */
let newest = null

element('speak').addEventListener('click', () => {
  if (run) run.finish()
  else void transcribe(fromMicrophone)
})
element('upload').addEventListener('click', () => element('file').click())
element('file').addEventListener('change', () => {
  const [file] = element('file').files
  element('file').value = ''
  if (file) void transcribe((own) => fromFile(own, file))
})

/** Starts a run. `source` opens the audio, and returns its rate and a function to start sending. */
async function transcribe(source) {
  run?.end()
  const choice = sttChoice()
  const own = { isOver: false, closers: [], finish: () => own.end(), end: () => endRun(own) }
  run = own
  newest = own
  element('transcript').replaceChildren()
  allowTranscript(false)
  clearFigures('stt')
  showSpeaking(true)
  try {
    const { sampleRate, begin } = await source(own)
    const clock = createClock()
    own.socket = await openSocket('/v1/transcribe/stream', {
      onFrame: (frame) => run === own && onTranscriptFrame(own, frame, choice, clock),
      onClosed: (problem) => {
        if (problem) fail(own, problem)
        own.end()
      },
    })
    own.closers.push(() => own.socket.close())
    // The user stopped the run before it began.
    if (own.isOver) return own.end()
    own.socket.send({
      type: 'config',
      ...choiceFields(choice),
      encoding: 'pcm_s16le',
      sampleRate,
      channels: 1,
      interimResults: true,
    })
    begin(own.socket, clock)
  } catch (error) {
    fail(own, inWords(error))
    own.end()
  }
}

const choiceFields = (choice) => Object.fromEntries(Object.entries(choice).filter(([, chosen]) => chosen !== ''))

async function fromMicrophone(own) {
  if (!navigator.mediaDevices) throw new Error('The microphone needs HTTPS; recordings work without.')
  say('stt-status', 'Opening the microphone …')
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } })
  const silence = () => {
    for (const track of stream.getTracks()) track.stop()
  }
  own.closers.push(silence)
  const context = await listenTo(stream)
  own.closers.push(() => context.close())
  const begin = (socket, clock) => {
    own.source = capture(context, stream, (frame) => {
      if (own.isOver || own.isFinishing) return
      clock.start(20)
      element('level').value = loudness(frame)
      socket.send(frame)
    })
    own.finish = () => {
      own.isFinishing = true
      silence()
      showSpeaking(false)
      socket.send({ type: 'end' })
      say('stt-status', 'Finishing …')
    }
  }
  return { sampleRate: context.sampleRate, begin }
}

/**
 * A server limits the audio waiting for its speech engine. So a recording is sent at most this far ahead of its
 * transcript or ahead of real time.
 */
const aheadMsMax = 60_000
const pieceMs = 100

async function fromFile(own, file) {
  say('stt-status', `Reading ${file.name} …`)
  const samples = await decode(file)
  const begin = (socket, clock) => {
    clock.start(0)
    own.durationMs = (samples.length / fileRateHz) * 1000
    let sentMs = 0
    const feed = () => {
      while (
        !own.isOver &&
        sentMs < own.durationMs &&
        sentMs < Math.max(clock.transcribedMs, clock.nowMs()) + aheadMsMax
      ) {
        const from = (sentMs / 1000) * fileRateHz
        socket.send(samples.slice(from, from + (pieceMs / 1000) * fileRateHz).buffer)
        sentMs += pieceMs
      }
      if (own.isOver) return
      if (sentMs < own.durationMs) setTimeout(feed, pieceMs)
      else socket.send({ type: 'end' })
    }
    feed()
  }
  return { sampleRate: fileRateHz, begin }
}

/** Converts transcript times, which count from the first sample, to this page's times. */
function createClock() {
  let startedMs = null
  return {
    transcribedMs: 0,
    /** Called when the first audio is sent. `audioMs` is its length. */
    start: (audioMs) => (startedMs ??= performance.now() - audioMs),
    nowMs: () => (startedMs === null ? 0 : performance.now() - startedMs),
  }
}

function endRun(own) {
  own.isOver = true
  for (const close of own.closers.splice(0)) close()
  if (run !== own) return
  run = null
  showSpeaking(false)
}

/** Shows why a run failed. Removes the run's figures, because they could be mistaken for the next run's. */
function fail(own, problem) {
  if (run !== own) return
  clearFigures('stt')
  say('stt-status', problem, true)
}

function showSpeaking(speaking) {
  element('speak').setAttribute('aria-pressed', String(speaking))
  element('speak-label').textContent = speaking ? 'Stop' : 'Speak'
  element('level').value = 0
}

function onTranscriptFrame(own, frame, choice, clock) {
  if (frame.type === 'ready') {
    say('stt-status', own.durationMs ? 'Transcribing.' : 'Listening.')
    void showRoute('stt', frame, choice, () => newest === own && (run === own || own.isDone))
  } else if (frame.type === 'transcript') {
    clock.transcribedMs = Math.max(clock.transcribedMs, frame.endMs)
    showTranscript(frame)
    showTranscriptTimes(own, frame, clock)
  } else if (frame.type === 'error') fail(own, `${frame.message} (${frame.code})`)
  else if (frame.type === 'end') {
    own.isDone = true
    say('stt-status', 'Done.')
  }
}

/**
 * Shows a transcript's times. For live speech: from the speech's start to the first words, and from the speech's end to
 * the last words. For a recording: from when it was sent.
 */
function showTranscriptTimes(own, { text, isFinal, startMs, endMs }, clock) {
  if (text === '') return
  const isRecording = own.durationMs !== undefined
  own.firstMs ??= clock.nowMs() - (isRecording ? 0 : startMs)
  if (isFinal) own.finalMs = clock.nowMs() - (isRecording ? 0 : endMs)
  const times = {
    'First partial': inTime(own.firstMs),
    ...(own.finalMs !== undefined && { Final: inTime(own.finalMs) }),
    ...(isRecording && { Recording: inTime(own.durationMs) }),
  }
  const live = 'The first partial counts from the start of the speech, the final from its end.'
  showTimes('stt', times, isRecording ? 'Both count from the moment when the recording was sent.' : live)
}

/** Shows each utterance as one paragraph, grey while it may still change. */
function showTranscript({ id, text, isFinal }) {
  const log = element('transcript')
  const known = [...log.children].find((line) => line.dataset.utterance === id)
  const line = known ?? log.appendChild(document.createElement('p'))
  line.dataset.utterance = id
  line.className = isFinal ? 'final' : 'partial'
  line.textContent = text
  if (isFinal && text !== '') allowTranscript(true)
  log.scrollTop = log.scrollHeight
}

/** Returns the final sentences, one in a line. */
const transcript = () =>
  [...element('transcript').querySelectorAll('.final')].map((line) => line.textContent).join('\n')

function allowTranscript(isAllowed) {
  for (const button of ['copy', 'download']) element(`transcript-${button}`).disabled = !isAllowed
}

element('transcript-copy').addEventListener('click', async () => {
  const isCopied = await copy(transcript())
  say('stt-status', isCopied ? 'Copied the transcript.' : 'Select the transcript to copy it.')
})
element('transcript-download').addEventListener('click', () => {
  saveAs('transcript.txt', new Blob([`${transcript()}\n`], { type: 'text/plain' }))
})

/* Text to speech */

const rateHz = 24000
/** The current playout; null between texts. */
let speech = null
/** The audio for the last spoken text. */
let spoken = []

element('say').addEventListener('submit', (event) => {
  event.preventDefault()
  if (value('text').trim() !== '') return void speak(value('text'), ttsChoice())
  clearFigures('tts')
  say('tts-status', 'Write a text first.', true)
  element('text').focus()
})
element('stop').addEventListener('click', () => speech?.stop())
element('download').addEventListener('click', () => {
  saveAs('speech.wav', wavOf(spoken, rateHz))
})

async function speak(text, choice) {
  speech?.end()
  const player = createPlayer(rateHz)
  const own = { socket: null, bytes: 0, stop: () => {}, end: () => {} }
  speech = own
  spoken = []
  clearFigures('tts')
  element('stop').disabled = false
  element('download').disabled = true
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
    // With `clear` the server drops its unsent audio and reports how much it has sent.
    if (own.socket) own.socket.send({ type: 'clear' })
    else own.end()
  }
  try {
    own.socket = await openSocket('/v1/synthesize/stream', {
      onAudio: (bytes) => {
        if (speech !== own) return
        player.play(bytes)
        keep(own, bytes)
      },
      onFrame: (frame) => {
        if (speech === own) onSpeechFrame(own, frame, choice)
        if (frame.type === 'cleared') own.end()
      },
      onClosed: (problem) => {
        player.whenSilent(own.end)
        if (problem && speech === own) failSpeech(problem)
      },
    })
    if (speech !== own) return own.end()
    own.socket.send({ type: 'config', ...choiceFields(choice), encoding: 'pcm_s16le', sampleRate: rateHz })
    own.sentMs = performance.now()
    own.socket.send({ type: 'text', text, flush: true })
    own.socket.send({ type: 'end' })
  } catch (error) {
    if (speech === own) failSpeech(inWords(error))
    own.end()
  }
}

function keep(own, bytes) {
  spoken.push(bytes)
  own.bytes += bytes.byteLength
  const sinceMs = performance.now() - own.sentMs
  own.firstMs ??= sinceMs
  const audioMs = (own.bytes / 2 / rateHz) * 1000
  const times = { 'First audio': inTime(own.firstMs), 'All audio': inTime(sinceMs), Speech: inTime(audioMs) }
  showTimes('tts', times, 'The first two count from the moment when the text was sent.')
}

function failSpeech(problem) {
  clearFigures('tts')
  say('tts-status', problem, true)
}

function onSpeechFrame(own, frame, choice) {
  if (frame.type === 'ready') {
    say('tts-status', 'Speaking.')
    void showRoute('tts', frame, choice, () => speech === own || own.isDone)
  } else if (frame.type === 'cleared') say('tts-status', `Stopped after ${frame.charactersSent} characters.`)
  else if (frame.type === 'error') failSpeech(`${frame.message} (${frame.code})`)
  else if (frame.type === 'end') {
    own.isDone = true
    say('tts-status', 'Done.')
  }
  element('download').disabled = spoken.length === 0 || frame.type === 'ready'
}

/* Programs */

offerPrograms('stt', sttChoice)
offerPrograms('tts', () => ({ ...ttsChoice(), text: value('text') }))
