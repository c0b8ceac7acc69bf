/**
 * Decodes a recording into a stream of mono samples at the rate of the recogniser. The whole signal is never in memory
 * at once.
 */
import { FLACDecoder } from '@wasm-audio-decoders/flac'
import { MPEGDecoder } from 'mpg123-decoder'
import { OggOpusDecoder } from 'ogg-opus-decoder'
import { OpusDecoder } from 'opus-decoder'
import { AudioError } from '../../audio/error.ts'
import type { AudioFormat } from '../../audio/format.ts'
import { Mp3Framer } from '../../audio/mp3.ts'
import { type OpusRateHz, opusRateHz, opusRatesHz } from '../../audio/opus.ts'
import {
  convertChannels,
  decodeSamples,
  downmixPlanar,
  FrameAligner,
  frameBytes,
  isSampleEncoding,
} from '../../audio/pcm.ts'
import { Resampler } from '../../audio/resample.ts'
import { packetsIn } from './packets.ts'

/** The result that the four decoders of compressed audio share. */
type Decoded = { channelData: Float32Array[]; samplesDecoded: number }
type Source = { format: AudioFormat; durationMs: number; pieces: AsyncIterable<Uint8Array> }

/**
 * Frames that cannot be decoded are left out. Below this share, a transcript of the rest would look like one of the
 * whole recording.
 */
const decodedPartMin = 0.9

/**
 * In a raw stream of Opus each piece is one packet. Throws AudioError `damaged` if the headers were right but too few
 * frames can be decoded.
 */
export async function* decodeMono(source: Source, rateHz: number): AsyncGenerator<Float32Array> {
  const { format } = source
  const mono = isSampleEncoding(format.encoding) ? decodeRaw(source) : decodeCompressed(source, rateHz)
  const fromHz = decodedRateHz(format, rateHz)
  if (fromHz === rateHz) {
    yield* mono
    return
  }
  const resampler = await Resampler.create({ channels: 1, fromHz, toHz: rateHz })
  try {
    for await (const samples of mono) yield resampler.process(samples)
    yield resampler.flush()
  } finally {
    resampler.close()
  }
}

async function* decodeRaw({ format, pieces }: Source): AsyncGenerator<Float32Array> {
  const { encoding, channels } = format
  if (!isSampleEncoding(encoding)) return
  const aligner = new FrameAligner(frameBytes({ encoding, channels }))
  for await (const piece of pieces) {
    yield convertChannels(decodeSamples(aligner.push(piece), encoding), channels, 1)
  }
}

/** The rate of the decoded samples. */
function decodedRateHz({ container, encoding, sampleRateHz }: AudioFormat, wantedHz: number): number {
  return encoding === 'opus' && container !== 'ogg' ? packetsRateHz(wantedHz) : sampleRateHz
}

/** The decoder of packets emits the wanted rate itself, which takes less time than to resample 48 kHz. */
function packetsRateHz(wantedHz: number): OpusRateHz {
  return opusRatesHz.find((rate) => rate === wantedHz) ?? opusRateHz
}

async function* decodeCompressed(source: Source, wantedHz: number): AsyncGenerator<Float32Array> {
  const { format, durationMs } = source
  const rateHz = decodedRateHz(format, wantedHz)
  let decodedMs = 0
  for await (const { channelData, samplesDecoded } of openDecoder(source, wantedHz)) {
    decodedMs += (samplesDecoded * 1000) / rateHz
    if (samplesDecoded > 0) yield downmixPlanar(channelData)
  }
  if (decodedMs < durationMs * decodedPartMin) {
    const missing = `${Math.round(durationMs - decodedMs)} of ${durationMs} ms`
    throw new AudioError('damaged', `The ${format.container} file is damaged: ${missing} cannot be decoded.`)
  }
}

function openDecoder({ format, pieces }: Source, wantedHz: number): AsyncIterable<Decoded> {
  const { container, encoding } = format
  if (container === 'flac') return flushing(new FLACDecoder(), pieces)
  if (container === 'ogg') return flushing(new OggOpusDecoder(), pieces)
  if (container === 'webm') return decodePackets(pieces, packetsIn, packetsRateHz(wantedHz))
  if (encoding === 'opus') return decodePackets(pieces, (packet) => [packet], packetsRateHz(wantedHz))
  return decodeMp3(pieces)
}

async function* decodePackets(
  pieces: AsyncIterable<Uint8Array>,
  packetsOf: (piece: Uint8Array) => Uint8Array[],
  sampleRate: OpusRateHz,
): AsyncGenerator<Decoded> {
  // A mono stream is decoded to two equal channels.
  const decoder = new OpusDecoder({ sampleRate })
  try {
    await decoder.ready
    for await (const piece of pieces) yield await attempt(() => decoder.decodeFrames(packetsOf(piece)))
  } finally {
    decoder.free()
  }
}

async function* flushing(
  decoder: FLACDecoder | OggOpusDecoder,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Decoded> {
  try {
    await decoder.ready
    for await (const piece of pieces) yield await attempt(() => decoder.decode(piece))
    yield await attempt(() => decoder.flush())
  } finally {
    decoder.free()
  }
}

async function* decodeMp3(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Decoded> {
  const decoder = new MPEGDecoder()
  const framer = new Mp3Framer()
  try {
    await decoder.ready
    for await (const piece of pieces) yield await attempt(() => decoder.decodeFrames(framer.push(piece)))
    yield await attempt(() => decoder.decodeFrames(framer.end()))
  } finally {
    decoder.free()
  }
}

/** The decoders throw errors of any kind on damaged input. */
async function attempt(decode: () => Decoded | Promise<Decoded>): Promise<Decoded> {
  try {
    return await decode()
  } catch (cause) {
    throw new AudioError('damaged', 'The file is damaged: it cannot be decoded.', cause)
  }
}
