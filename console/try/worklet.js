/** Cuts the microphone's audio into 20 ms frames, 16 bits little-endian: 640 bytes at 16 kHz. */
class Microphone extends AudioWorkletProcessor {
  constructor() {
    super()
    this.frame = new Int16Array(Math.round(sampleRate / 50))
    this.filled = 0
  }

  process(inputs) {
    // Browsers give stereo even if mono was requested. The first channel is enough for a voice.
    const samples = inputs[0]?.[0] ?? []
    for (const sample of samples) {
      const bounded = Math.max(-1, Math.min(1, sample))
      this.frame[this.filled++] = bounded * (bounded < 0 ? 32768 : 32767)
      if (this.filled === this.frame.length) this.send()
    }
    return true
  }

  send() {
    const { buffer, length } = this.frame
    // The buffer is transferred without a copy, so the frame is empty afterwards.
    this.port.postMessage(buffer, [buffer])
    this.frame = new Int16Array(length)
    this.filled = 0
  }
}

registerProcessor('microphone', Microphone)
