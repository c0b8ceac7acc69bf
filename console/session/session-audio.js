/** A session's microphone and speaker, in one audio context. The browser chooses the context's sample rate. */
import { pageSpeaker } from './page-speaker.js'

/**
 * Opens the audio. Must be called in a user action, such as a click, otherwise browsers play nothing. `stream` is null
 * for a session without a microphone.
 */
export async function openAudio(stream) {
  const context = new AudioContext({ latencyHint: 'interactive' })
  await context.audioWorklet?.addModule(new URL('session-worklet.js', import.meta.url))
  await context.resume()
  return new SessionAudio(context, stream)
}

class SessionAudio {
  #context
  #stream
  #speaker = null
  /**
   * Keeps references to the audio nodes. Otherwise the browser's garbage collection would remove them, and the audio
   * would stop.
   */
  #nodes = []

  constructor(context, stream) {
    this.#context = context
    this.#stream = stream
  }

  /**
   * Callbacks: `onFrame` receives 20 ms PCM16 as an ArrayBuffer, `onPlayed` a mark's name, and `onCleared` `{mark,
   * playedMs}`.
   */
  begin(rateHz, { onFrame, onPlayed, onCleared }) {
    const context = this.#context
    const latencyMs = 1000 * (context.outputLatency || context.baseLatency || 0)
    const speakerOf = context.audioWorklet ? workletSpeaker : pageSpeaker
    this.#speaker = speakerOf(context, { rateHz, latencyMs, onPlayed, onCleared })
    this.#speaker.node.connect(context.destination)
    this.#nodes = [this.#speaker.node]
    if (this.#stream === null) return
    const microphone = new AudioWorkletNode(context, 'session-microphone', { processorOptions: { rateHz } })
    microphone.port.onmessage = ({ data }) => onFrame(data)
    const source = context.createMediaStreamSource(this.#stream)
    source.connect(microphone)
    this.#nodes.push(microphone, source)
  }

  play(bytes) {
    this.#speaker?.play(bytes)
  }

  mark(name) {
    this.#speaker?.mark(name)
  }

  clear() {
    this.#speaker?.clear()
  }

  mute(isMuted) {
    for (const track of this.#stream?.getTracks() ?? []) track.enabled = !isMuted
  }

  close() {
    for (const track of this.#stream?.getTracks() ?? []) track.stop()
    for (const node of this.#nodes.splice(0)) node.disconnect()
    if (this.#context.state !== 'closed') void this.#context.close()
  }
}

function workletSpeaker(context, { rateHz, latencyMs, onPlayed, onCleared }) {
  const node = new AudioWorkletNode(context, 'session-speaker', {
    numberOfInputs: 0,
    outputChannelCount: [1],
    processorOptions: { rateHz, latencyMs },
  })
  node.port.onmessage = ({ data }) => (data.cleared ? onCleared(data.cleared) : onPlayed(data.played))
  return {
    node,
    play: (bytes) => node.port.postMessage(bytes, [bytes]),
    mark: (name) => node.port.postMessage({ mark: name }),
    clear: () => node.port.postMessage({ clear: true }),
  }
}
