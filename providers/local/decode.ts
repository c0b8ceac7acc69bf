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
import { beginsStream, endsStream, OggPages } from '../../audio/ogg-pages.ts'
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
/** `durationMs` is what the recording declares; null in a stream, which has no end yet. */
type Source = { format: AudioFormat; durationMs: number | null; pieces: AsyncIterable<Uint8Array> }

/**
 * Frames that cannot be decoded are left out. Below this share, a transcript of the rest would look like one of the
 * whole recording.
 */
const decodedPartMin = 0.9

/**
 * A sender can write any position into the last frame or page, from which the duration is read. So decoding ends when
 * it has gone beyond that duration by this share and this time: 39 KB of FLAC can hold hours.
 */
const decodedPartMax = 1.1
const decodedBeyondMs = 2000

/**
 * The decoder of FLAC answers all that it gets at once, and a frame of 13 bytes can hold 65,535 samples. So it gets
 * little at a time, or one piece takes a gigabyte before its duration can be checked.
 */
const flacSliceBytes = 512

/**
 * In a raw stream of Opus each piece is one packet. Throws AudioError `damaged` if the headers were right but too few
 * frames can be decoded, or far more than was declared.
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
  const decodedMaxMs = durationMs === null ? Infinity : durationMs * decodedPartMax + decodedBeyondMs
  let decodedMs = 0
  for await (const { channelData, samplesDecoded } of openDecoder(source, wantedHz)) {
    decodedMs += (samplesDecoded * 1000) / rateHz
    if (decodedMs > decodedMaxMs) throw tooLong(format, durationMs)
    if (samplesDecoded > 0) yield downmixPlanar(channelData)
  }
  if (durationMs !== null && decodedMs < durationMs * decodedPartMin) {
    const missing = `${Math.round(durationMs - decodedMs)} of ${durationMs} ms`
    throw new AudioError('damaged', `The ${format.container} file is damaged: ${missing} cannot be decoded.`)
  }
}

function tooLong({ container }: AudioFormat, durationMs: number | null): AudioError {
  return new AudioError('damaged', `The ${container} file is damaged: it declares ${durationMs} ms and holds far more.`)
}

function openDecoder({ format, pieces }: Source, wantedHz: number): AsyncIterable<Decoded> {
  const { container, encoding } = format
  if (container === 'flac') return decodeFlac(pieces)
  if (container === 'ogg') return decodeOgg(pieces)
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

async function* decodeFlac(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Decoded> {
  const decoder = new FLACDecoder()
  try {
    await decoder.ready
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length; at += flacSliceBytes) {
        const slice = piece.subarray(at, at + flacSliceBytes)
        yield await attempt(() => decoder.decode(slice))
      }
    }
    yield await attempt(() => decoder.flush())
  } finally {
    decoder.free()
  }
}

/**
 * The decoder gets one page at a time, which holds 30.6 s at most, because it answers all that it gets at once. It
 * forgets what follows the end of a logical stream, so it is flushed before the next one.
 */
async function* decodeOgg(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Decoded> {
  const decoder = new OggOpusDecoder()
  const pages = new OggPages()
  let hasEnded = false
  try {
    await decoder.ready
    for await (const piece of pieces) {
      for (const page of pages.push(piece)) {
        if (hasEnded && beginsStream(page)) yield await attempt(() => decoder.flush())
        hasEnded = endsStream(page)
        yield await attempt(() => decoder.decode(page))
      }
    }
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
