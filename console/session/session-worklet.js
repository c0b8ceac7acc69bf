/** Runs on the audio thread: cuts the microphone's audio into frames, and plays the agent's audio with its marks. */
import { FrameCutter } from './frame-cutter.js'
import { Playout } from './playout.js'
import { Resampler } from './resampler.js'

class Microphone extends AudioWorkletProcessor {
  constructor({ processorOptions: { rateHz } }) {
    super()
    this.resampler = new Resampler(sampleRate, rateHz)
    // The buffer is transferred to the page's thread without a copy.
    this.cutter = new FrameCutter(rateHz, ({ buffer }) => this.port.postMessage(buffer, [buffer]))
  }

  process([input]) {
    // Browsers give stereo even if mono was requested. The first channel is enough for a voice.
    if (input[0]) this.cutter.push(this.resampler.push(input[0]))
    return true
  }
}

class Speaker extends AudioWorkletProcessor {
  constructor({ processorOptions: { rateHz, latencyMs } }) {
    super()
    const onPlayed = (mark) => this.port.postMessage({ played: mark })
    this.playout = new Playout({ fromHz: rateHz, toHz: sampleRate, onPlayed, latencyMs })
    this.port.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) this.playout.push(new Int16Array(data))
      else if (data.mark !== undefined) this.playout.mark(data.mark)
      else this.port.postMessage({ cleared: this.playout.clear() })
    }
  }

  process(_, [output]) {
    this.playout.pull(output[0])
    return true
  }
}

registerProcessor('session-microphone', Microphone)
registerProcessor('session-speaker', Speaker)
