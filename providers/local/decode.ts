/** Any recording that we recognise, as a stream of mono samples at the rate that the recogniser wants. Never the whole signal at once. */
import { FLACDecoder } from '@wasm-audio-decoders/flac'
import { MPEGDecoder } from 'mpg123-decoder'
import { OggOpusDecoder } from 'ogg-opus-decoder'
import { AudioError } from '../../audio/error.ts'
import type { AudioFormat } from '../../audio/format.ts'
import { Mp3Framer } from '../../audio/mp3.ts'
import {
  convertChannels,
  decodeSamples,
  downmixPlanar,
  FrameAligner,
  frameBytes,
  isSampleEncoding,
} from '../../audio/pcm.ts'
import { Resampler } from '../../audio/resample.ts'

/** What the three decoders of compressed audio have in common. */
type Decoded = { channelData: Float32Array[]; samplesDecoded: number }

/** Throws AudioError `damaged` when nothing can be made of the bytes, although their headers were right. */
export async function* decodeMono(
  format: AudioFormat,
  pieces: AsyncIterable<Uint8Array>,
  rateHz: number,
): AsyncGenerator<Float32Array> {
  const mono = isSampleEncoding(format.encoding) ? decodeRaw(format, pieces) : decodeCompressed(format, pieces)
  if (format.sampleRateHz === rateHz) {
    yield* mono
    return
  }
  const resampler = await Resampler.create({ channels: 1, fromHz: format.sampleRateHz, toHz: rateHz })
  try {
    for await (const samples of mono) yield resampler.process(samples)
    yield resampler.flush()
  } finally {
    resampler.close()
  }
}

async function* decodeRaw(format: AudioFormat, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Float32Array> {
  const { encoding, channels } = format
  if (!isSampleEncoding(encoding)) return
  const aligner = new FrameAligner(frameBytes({ encoding, channels }))
  for await (const piece of pieces) {
    yield convertChannels(decodeSamples(aligner.push(piece), encoding), channels, 1)
  }
}

async function* decodeCompressed(format: AudioFormat, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Float32Array> {
  let samples = 0
  for await (const decoded of openDecoder(format.container, pieces)) {
    samples += decoded.samplesDecoded
    if (decoded.samplesDecoded > 0) yield downmixPlanar(decoded.channelData)
  }
  if (samples === 0) throw new AudioError('damaged', `Nothing in the ${format.container} file can be decoded.`)
}

function openDecoder(container: AudioFormat['container'], pieces: AsyncIterable<Uint8Array>): AsyncIterable<Decoded> {
  if (container === 'flac') return flushing(new FLACDecoder(), pieces)
  if (container === 'ogg') return flushing(new OggOpusDecoder(), pieces)
  return decodeMp3(pieces)
}

async function* flushing(
  decoder: FLACDecoder | OggOpusDecoder,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Decoded> {
  try {
    await decoder.ready
    for await (const piece of pieces) yield await decoder.decode(piece)
    yield await decoder.flush()
  } finally {
    decoder.free()
  }
}

async function* decodeMp3(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Decoded> {
  const decoder = new MPEGDecoder()
  const framer = new Mp3Framer()
  try {
    await decoder.ready
    for await (const piece of pieces) yield decoder.decodeFrames(framer.push(piece))
    yield decoder.decodeFrames(framer.end())
  } finally {
    decoder.free()
  }
}
