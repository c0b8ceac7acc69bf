/**
 * Connects a web page to an agent. `POST /v1/sessions` returns `transportUrl` and `transportToken`:
 *
 *   const session = await startSession({ transportUrl, transportToken, on: { transcript: ({ text }) => … } })
 *   session.say('a typed turn')
 *   session.hangUp()
 *
 * This folder has no dependencies, and its files are served next to each other.
 */
import { openAudio } from './session-audio.js'
import { SessionSocket } from './session-socket.js'

/**
 * Starts a session. Must be called in a user action, because browsers allow audio only then. `on` holds callbacks: one
 * for each wanted frame type, and `lost()`, `played(mark)`, `cleared({mark, playedMs})`, `level(0…1)` and
 * `over({reason, error})`. `microphone: false` opens a session where the user types. `overrides` is defined by the API
 * contract.
 */
export async function startSession({ transportUrl, transportToken, prefix, overrides, microphone = true, on = {} }) {
  const stream = microphone ? await navigator.mediaDevices.getUserMedia({ audio: wanted }) : null
  const audio = await openAudio(stream).catch((error) => {
    for (const track of stream?.getTracks() ?? []) track.stop()
    throw error
  })
  const socket = new SessionSocket({
    url: transportUrl,
    token: transportToken,
    ...(prefix && { prefix }),
    first: overrides ? { type: 'overrides', overrides } : null,
    on: {
      ready(frame) {
        if (isEnding) return void socket.send({ type: 'end' })
        if (!frame.resumed || !isBegun) begin(frame.sampleRate)
        on.ready?.(frame)
      },
      frame(frame) {
        if (frame.type === 'mark') audio.mark(frame.name)
        else if (frame.type === 'clear') audio.clear()
        on[frame.type]?.(frame)
      },
      audio: (bytes) => audio.play(bytes),
      lost: () => on.lost?.(),
      over(how) {
        audio.close()
        on.over?.(how)
      },
    },
  })
  let isBegun = false
  let isEnding = false

  function begin(rateHz) {
    isBegun = true
    audio.begin(rateHz, {
      onFrame(frame) {
        on.level?.(loudness(frame))
        socket.send(frame)
      },
      onPlayed(mark) {
        socket.send({ type: 'played', mark })
        on.played?.(mark)
      },
      onCleared(how) {
        socket.send({ type: 'played', ...how, cleared: true })
        on.cleared?.(how)
      },
    })
  }

  return {
    say: (text) => socket.send({ type: 'user_message', text }),
    note: (text) => socket.send({ type: 'contextual_update', text }),
    press: (digits) => socket.send({ type: 'dtmf', digits }),
    toolResult: (id, result, isError = false) => socket.send({ type: 'tool_result', id, result, isError }),
    mute: (isMuted) => audio.mute(isMuted),
    /**
     * Asks the server to end the session. The server then sends the frame `end`. If the session has not begun, it ends
     * as soon as it begins. If the socket is lost, the session ends without the server.
     */
    hangUp() {
      isEnding = true
      if (!socket.send({ type: 'end' }) && isBegun) socket.close()
    },
    /** Closes the socket without hanging up, so another socket can take over the session. */
    close: () => socket.close(),
  }
}

/** Noise suppression is off, because it may remove the first words. For speech recognition, noise is less harmful. */
const wanted = { channelCount: 1, echoCancellation: true, noiseSuppression: false, autoGainControl: true }

/** Returns a frame's loudness, from 0 to 1. */
function loudness(frame) {
  let peak = 0
  for (const sample of new Int16Array(frame)) peak = Math.max(peak, Math.abs(sample))
  return Math.sqrt(peak / 32768)
}
