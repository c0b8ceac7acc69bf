/** The last step before the client: converts a provider's audio to the requested format. */
import { AudioError } from './error.ts'
import type { OutputFormat } from './format.ts'
import { FrameResampler, hasShortFilter } from './frame-resampler.ts'
import { loopTurn } from './loop-turn.ts'
import {
  convertChannels,
  decodeSamples,
  encodeSamples,
  FrameAligner,
  frameBytes,
  isSampleEncoding,
  type SampleEncoding,
} from './pcm.ts'
import type { Resampler, ResamplerShape } from './resample.ts'

type CreateResampler = (shape: ResamplerShape) => Promise<Resampler>
type SampleFormat = OutputFormat & { encoding: SampleEncoding }

/**
 * If `live`, a shorter filter is used, which is good enough for streamed speech. For 100 mono PCM16 streams the shorter
 * filter needs a sixth as much processor time. `owner`, such as an organization, is used to share the event loop
 * fairly: the owners' steps alternate.
 */
export type ConvertOptions = { live: boolean; owner?: string | undefined }

/**
 * Returns a function to convert speech. The calling code passes the resampler, because importing the resampler's
 * library would add a tenth to an idle process's memory, and speech at the requested rate needs no resampler. Input
 * chunks may end inside a frame; output chunks are whole frames and never empty. If both formats are equal, the audio
 * is not changed. Throws AudioError `unsupported` at once if one side is Opus and the other is not. Errors from `audio`
 * are thrown by the iteration.
 */
export function createConvertSpeech(createResampler: CreateResampler) {
  return (
    audio: AsyncIterable<Uint8Array>,
    from: OutputFormat,
    to: OutputFormat,
    { live, owner }: ConvertOptions = { live: false },
  ): AsyncIterable<Uint8Array> => {
    if (isSamples(from) && isSamples(to)) {
      if (sameShape(from, to)) return wholeFrames(audio, from)
      const isLive = live && isMono16(from) && isMono16(to) && hasShortFilter(from.sampleRateHz, to.sampleRateHz)
      const steps = blocks(audio, from, to, owner)
      return isLive ? convertLive(steps, from, to) : convert(steps, from, to, createResampler)
    }
    if (from.encoding === to.encoding && sameShape(from, to)) return audio
    throw new AudioError('unsupported', `Speech in ${from.encoding} cannot be turned into ${to.encoding} here.`)
  }
}

function isSamples(format: OutputFormat): format is SampleFormat {
  return isSampleEncoding(format.encoding)
}

function sameShape(a: OutputFormat, b: OutputFormat): boolean {
  return a.encoding === b.encoding && a.sampleRateHz === b.sampleRateHz && a.channels === b.channels
}

async function* wholeFrames(audio: AsyncIterable<Uint8Array>, format: SampleFormat): AsyncGenerator<Uint8Array> {
  const aligner = new FrameAligner(frameBytes(format))
  for await (const chunk of audio) {
    const frames = aligner.push(chunk)
    if (frames.length > 0) yield frames
  }
}

/**
 * The maximum number of sample values, counted over all channels, that one turn of the event loop reads or makes. A
 * provider may send ten seconds at once: their conversion to 192 kHz takes 440 ms, and this many values take 2 ms. A
 * request needs about twenty turns of the event loop, so longer steps would delay all other requests.
 */
const stepValuesMax = 8192

/** Yields whole frames in blocks. Each block is converted in one step. */
async function* blocks(
  audio: AsyncIterable<Uint8Array>,
  from: SampleFormat,
  to: SampleFormat,
  owner: string | undefined,
): AsyncGenerator<Uint8Array> {
  const ratio = Math.max(1, to.sampleRateHz / from.sampleRateHz)
  const framesMax = Math.max(1, Math.floor(stepValuesMax / (Math.max(from.channels, to.channels) * ratio)))
  const bytesMax = framesMax * frameBytes(from)
  const aligner = new FrameAligner(frameBytes(from))
  for await (const chunk of audio) {
    const frames = aligner.push(chunk)
    for (let at = 0; at < frames.length; at += bytesMax) {
      const block = frames.subarray(at, at + bytesMax)
      const turn = loopTurn(block.length / bytesMax, owner)
      if (turn !== null) await turn
      yield block
    }
  }
}

const isMono16 = ({ encoding, channels }: OutputFormat) => encoding === 'pcm_s16le' && channels === 1

/**
 * Converts the rate with the short filter. The output is as long as the input and not shifted: the filter's delay is
 * cut off at the start, and silence pushes the last samples out.
 */
async function* convertLive(
  steps: AsyncIterable<Uint8Array>,
  from: SampleFormat,
  to: SampleFormat,
): AsyncGenerator<Uint8Array> {
  const resampler = new FrameResampler(from.sampleRateHz, to.sampleRateHz)
  const { delay } = resampler
  const ratio = to.sampleRateHz / from.sampleRateHz
  let received = 0
  let sent = -Math.round(delay * ratio)
  const ready = (samples: Int16Array, most: number): Uint8Array => {
    const output = resampler.convert(samples)
    const trimmed = output.slice(Math.max(0, -sent), Math.max(0, Math.min(output.length, most - sent)))
    sent += output.length
    return new Uint8Array(trimmed.buffer)
  }
  for await (const frames of steps) {
    const samples = new Int16Array(frames.length / 2)
    new Uint8Array(samples.buffer).set(frames)
    received += samples.length
    const bytes = ready(samples, Number.POSITIVE_INFINITY)
    if (bytes.length > 0) yield bytes
  }
  const rest = ready(new Int16Array(Math.ceil(delay + 1 + 1 / ratio)), Math.round(received * ratio))
  if (rest.length > 0) yield rest
}

async function* convert(
  steps: AsyncIterable<Uint8Array>,
  from: SampleFormat,
  to: SampleFormat,
  createResampler: CreateResampler,
): AsyncGenerator<Uint8Array> {
  // Resampling is the expensive step, so it runs on the smaller channel count.
  const channels = Math.min(from.channels, to.channels)
  const shape = { channels, fromHz: from.sampleRateHz, toHz: to.sampleRateHz }
  const resampler = shape.fromHz === shape.toHz ? null : await createResampler(shape)
  try {
    for await (const frames of steps) {
      const samples = convertChannels(decodeSamples(frames, from.encoding), from.channels, channels)
      const ready = resampler ? resampler.process(samples) : samples
      if (ready.length > 0) yield encodeSamples(convertChannels(ready, channels, to.channels), to.encoding)
    }
    const rest = resampler?.flush()
    if (rest && rest.length > 0) yield encodeSamples(convertChannels(rest, channels, to.channels), to.encoding)
  } finally {
    resampler?.close()
  }
}
