/** Audio in the browser: the microphone, recordings, playout, WAV. */

/** Opens the audio context at 16 kHz for recognition, or at the microphone's rate if the browser does not resample. */
export async function listenTo(stream) {
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

/**
 * Calls `onFrame` with 20 ms at a time. The calling code must keep a reference to the returned source: otherwise the
 * browser's garbage collection removes the source and the audio stops.
 */
export function capture(context, stream, onFrame) {
  const microphone = new AudioWorkletNode(context, 'microphone')
  microphone.port.onmessage = ({ data }) => onFrame(data)
  const source = context.createMediaStreamSource(stream)
  source.connect(microphone)
  return source
}

/** Returns a frame's loudness, from 0 to 1. */
export function loudness(frame) {
  const peak = new Int16Array(frame).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
  return Math.sqrt(peak / 32768)
}

const fileBytesMax = 100 * 1024 * 1024
export const fileRateHz = 16000

/** Returns a recording's samples, 16 kHz mono, from any format that the browser reads. Throws an error for the user. */
export async function decode(file) {
  if (file.size > fileBytesMax) throw new Error('The recording is larger than 100 MB.')
  const context = new OfflineAudioContext(1, 1, fileRateHz)
  const audio = await context.decodeAudioData(await file.arrayBuffer()).catch(() => {
    throw new Error('This browser cannot read the recording.')
  })
  const channels = Array.from({ length: audio.numberOfChannels }, (_, channel) => audio.getChannelData(channel))
  const samples = new Int16Array(audio.length)
  for (let i = 0; i < samples.length; i++) {
    let sum = 0
    for (const channel of channels) sum += channel[i]
    samples[i] = Math.max(-1, Math.min(1, sum / channels.length)) * 32767
  }
  return samples
}

/** Returns a file with 16-bit mono samples: the RIFF/WAVE header, and the unchanged bytes. */
export function wavOf(chunks, rateHz) {
  const length = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  const head = new DataView(new ArrayBuffer(44))
  const text = (at, word) => {
    for (let i = 0; i < 4; i++) head.setUint8(at + i, word.charCodeAt(i))
  }
  text(0, 'RIFF')
  head.setUint32(4, 36 + length, true)
  text(8, 'WAVE')
  text(12, 'fmt ')
  head.setUint32(16, 16, true)
  head.setUint16(20, 1, true)
  head.setUint16(22, 1, true)
  head.setUint32(24, rateHz, true)
  head.setUint32(28, rateHz * 2, true)
  head.setUint16(32, 2, true)
  head.setUint16(34, 16, true)
  text(36, 'data')
  head.setUint32(40, length, true)
  return new Blob([head, ...chunks], { type: 'audio/wav' })
}

/** Plays PCM as it arrives, each piece right after the previous piece. */
export function createPlayer(rateHz) {
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
      // Playout starts with a short delay, so a late piece does not cause a gap at once.
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
