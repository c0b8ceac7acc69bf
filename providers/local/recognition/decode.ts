/**
 * Decodes a recording into a stream of mono samples at the recognizer's rate. The whole signal is never in memory at
 * once.
 */
import { FLACDecoder } from '@wasm-audio-decoders/flac'
import { MPEGDecoder } from 'mpg123-decoder'
import { OggOpusDecoder } from 'ogg-opus-decoder'
import { OpusDecoder } from 'opus-decoder'
import { AudioError } from '../../../audio/error.ts'
import type { AudioFormat } from '../../../audio/format.ts'
import { Mp3Framer } from '../../../audio/mp3.ts'
import { beginsStream, endsStream, OggPages } from '../../../audio/ogg-pages.ts'
import { type OpusRateHz, opusRateHz, opusRatesHz } from '../../../audio/opus.ts'
import {
  convertChannels,
  decodeSamples,
  downmixPlanar,
  FrameAligner,
  frameBytes,
  isSampleEncoding,
} from '../../../audio/pcm.ts'
import { Resampler } from '../../../audio/resample.ts'
import { packetsIn } from '../children/packets.ts'

/** The result type shared by all four decoders for compressed audio. */
type Decoded = { channelData: Float32Array[]; samplesDecoded: number }
/** `durationMs` is the recording's declared duration, or null for a live stream without an end yet. */
type Source = { format: AudioFormat; durationMs: number | null; pieces: AsyncIterable<Uint8Array> }

/**
 * Frames that cannot be decoded are skipped. If less than this fraction can be decoded, the recording is refused,
 * because a partial transcript would look complete.
 */
const decodedPartMin = 0.9

/**
 * Decoding stops if the audio is longer than its declared duration times this factor plus this time. The declared
 * duration comes from the position in the last frame or page, and a hostile sender can write any position: 39 KB FLAC
 * can contain hours.
 */
const decodedPartMax = 1.1
const decodedBeyondMs = 2000

/**
 * The FLAC decoder returns all audio from its input at once, and a frame with 13 bytes can contain 65,535 samples. So
 * the input is cut into slices. Otherwise the audio from one piece could need a gigabyte before its duration is
 * checked.
 */
const flacSliceBytes = 512

/**
 * Yields the decoded samples at `rateHz`. In a raw Opus stream each piece is one packet. Throws AudioError `damaged` if
 * the headers are valid but too few frames can be decoded, or if the audio is far longer than declared.
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

/** Returns the sample rate after decoding. */
function decodedRateHz({ container, encoding, sampleRateHz }: AudioFormat, targetHz: number): number {
  return encoding === 'opus' && container !== 'ogg' ? packetsRateHz(targetHz) : sampleRateHz
}

/**
 * Returns the target rate if the Opus packet decoder can emit it, otherwise 48 kHz, because resampling takes more time.
 */
function packetsRateHz(targetHz: number): OpusRateHz {
  return opusRatesHz.find((rate) => rate === targetHz) ?? opusRateHz
}

async function* decodeCompressed(source: Source, targetHz: number): AsyncGenerator<Float32Array> {
  const { format, durationMs } = source
  const rateHz = decodedRateHz(format, targetHz)
  const decodedMaxMs = durationMs === null ? Infinity : durationMs * decodedPartMax + decodedBeyondMs
  let decodedMs = 0
  for await (const { channelData, samplesDecoded } of openDecoder(source, targetHz)) {
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

function openDecoder({ format, pieces }: Source, targetHz: number): AsyncIterable<Decoded> {
  const { container, encoding } = format
  if (container === 'flac') return decodeFlac(pieces)
  if (container === 'ogg') return decodeOgg(pieces)
  if (container === 'webm') return decodePackets(pieces, packetsIn, packetsRateHz(targetHz))
  if (encoding === 'opus') return decodePackets(pieces, (packet) => [packet], packetsRateHz(targetHz))
  return decodeMp3(pieces)
}

async function* decodePackets(
  pieces: AsyncIterable<Uint8Array>,
  packetsOf: (piece: Uint8Array) => Uint8Array[],
  sampleRate: OpusRateHz,
): AsyncGenerator<Decoded> {
  // This decoder returns a mono stream as two equal channels.
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
 * Decodes Opus in Ogg. The decoder returns all decoded audio at once, so it receives one page at a time: 30.6 s at
 * most. It drops data after a logical stream's end, so it is flushed before the next stream begins.
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

/** Converts any error from a decoder to AudioError `damaged`, because the decoders throw many kinds of errors. */
async function attempt(decode: () => Decoded | Promise<Decoded>): Promise<Decoded> {
  try {
    return await decode()
  } catch (cause) {
    throw new AudioError('damaged', 'The file is damaged: it cannot be decoded.', cause)
  }
}
