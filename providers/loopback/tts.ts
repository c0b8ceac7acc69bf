import { setImmediate as afterOthers } from 'node:timers/promises'
import type { OutputFormat } from '../../audio/format.ts'
import { encodeSamples } from '../../audio/pcm.ts'
import type { Voice } from '../../domain/ports/model.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Tts } from '../../domain/ports/tts.ts'

export const loopbackVoice: Voice = { id: 'tone', name: 'Tone', gender: 'neutral', styles: [] }

const msPerCharacter = 60
const toneHz = 440
const chunkMs = 100

/**
 * Returns a 440 Hz sine wave, 60 ms for each character (code point), at the requested rate, with 16 bits if the
 * requested encoding is not linear.
 */
export const loopbackTts: Tts = {
  synthesize({ text, outputFormat }, signal) {
    const encoding = outputFormat.encoding === 'pcm_f32le' ? 'pcm_f32le' : 'pcm_s16le'
    const format: OutputFormat = { ...outputFormat, encoding }
    const durationMs = [...text].length * msPerCharacter
    return Promise.resolve({ format, audio: tone(format, durationMs, signal) })
  },
}

async function* tone(format: OutputFormat, durationMs: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { sampleRateHz } = format
  const second = wave(format)
  const bytesPerFrame = second.length / sampleRateHz
  const chunkFrames = Math.ceil((sampleRateHz * chunkMs) / 1000)
  const frames = Math.round((sampleRateHz * durationMs) / 1000)
  for (let at = 0; at < frames; ) {
    if (signal.aborted) throw new ProviderError('cancelled', { sent: true, cause: signal.reason })
    const start = at % sampleRateHz
    const count = Math.min(chunkFrames, frames - at, sampleRateHz - start)
    // A long text must not block the event loop for other requests.
    yield await afterOthers(second.subarray(start * bytesPerFrame, (start + count) * bytesPerFrame))
    at += count
  }
}

/** A cache for the sine waves. One second holds a whole number of periods, so it can be repeated without a click. */
const waves = new Map<string, Uint8Array>()
/**
 * The maximum number of cached waves. Clients choose the sample rate, so without this limit they could fill the memory.
 */
const wavesMax = 8

function wave({ encoding, sampleRateHz, channels }: OutputFormat): Uint8Array {
  const key = `${encoding} ${sampleRateHz} ${channels}`
  const cached = waves.get(key)
  if (cached) return cached
  const samples = Float32Array.from(
    { length: sampleRateHz * channels },
    (_, i) => 0.25 * Math.sin((2 * Math.PI * toneHz * Math.floor(i / channels)) / sampleRateHz),
  )
  const bytes = encodeSamples(samples, encoding === 'pcm_f32le' ? 'pcm_f32le' : 'pcm_s16le')
  const oldest = waves.keys().next()
  if (waves.size >= wavesMax && !oldest.done) waves.delete(oldest.value)
  waves.set(key, bytes)
  return bytes
}
