/**
 * Recognizes an uploaded body's format by its first bytes; the content type is ignored. Only headers are read (and for
 * MP3, Ogg and WebM the headers in frames, pages and blocks), so a bad recording is refused before any further work. A
 * large body has millions of these headers, so they are read in steps.
 */
import { isAac, readAac } from './aac.ts'
import { ascii, ChunkedBytes } from './chunked-bytes.ts'
import { AudioError } from './error.ts'
import { isFlac, readFlac } from './flac.ts'
import { narrowed } from './float64.ts'
import type { AudioFormat, Encoding, Recording } from './format.ts'
import { findMp3, id3Bytes, readMp3 } from './mp3.ts'
import { isMp4, readMp4 } from './mp4.ts'
import { isOgg, readOggOpus } from './ogg.ts'
import { opusRateHz } from './opus.ts'
import { frameBytes, isSampleEncoding, type SampleEncoding } from './pcm.ts'
import type { Steps } from './steps.ts'
import { isWav, mp3InWav, readAnyWav } from './wav.ts'
import { isWebm, readWebm } from './webm.ts'

/** The sender's declared format for a body without a header. */
export type DeclaredAudio = { encoding: Encoding; sampleRateHz: number; channels: number }

const recordingDurationMaxMs = 4 * 3600 * 1000
const sampleRateHz = { min: 4000, max: 192_000 }
const channelsMax = 8
const chunksPerStep = 1 << 13

/** `chunks` and `bytes` are set if the recording differs from the uploaded body. */
type Layout = Omit<Recording, 'chunks' | 'bytes'> & Partial<Recording>

/** Returns the recording with the same chunks, not copied. Throws AudioError. */
export function* recogniseRecording(
  chunks: readonly Uint8Array[],
  declared: DeclaredAudio | null,
  durationMaxMs: number = recordingDurationMaxMs,
): Steps<Recording> {
  const bytes = new ChunkedBytes(chunks)
  if (bytes.length === 0) throw new AudioError('empty', 'The audio is empty.')
  const layout = (yield* readContainer(bytes, declared !== null)) ?? readRaw(bytes, declared)
  if (declared !== null) checkAgreement(layout.format, declared)
  checkShape(layout.format)
  if (layout.durationMs === 0) throw new AudioError('empty', 'The audio has a header and no samples.')
  if (layout.durationMs > durationMaxMs) {
    const minutes = (ms: number) => Math.ceil(ms / 60_000)
    throw new AudioError(
      'too_long',
      `The audio lasts ${minutes(layout.durationMs)} minutes; at most ${minutes(durationMaxMs)} are taken.`,
    )
  }
  return { chunks, bytes: bytes.length, ...layout }
}

/**
 * Returns undefined if no container is recognized. MP3's only signature is a sync word, and raw samples can contain it
 * too. So samples declared as raw are not searched for MP3.
 */
function* readContainer(bytes: ChunkedBytes, raw: boolean): Steps<Layout | undefined> {
  if (isWav(bytes)) {
    const frames = mp3InWav(bytes)
    return frames === undefined ? yield* wavLayout(bytes) : yield* mp3Layout(bytes, frames)
  }
  if (isOgg(bytes)) {
    const { channels, samples } = yield* readOggOpus(bytes)
    return compressed(bytes, { container: 'ogg', encoding: 'opus', sampleRateHz: opusRateHz, channels }, 0, samples)
  }
  if (isWebm(bytes)) {
    const { channels, samples } = yield* readWebm(bytes)
    return compressed(bytes, { container: 'webm', encoding: 'opus', sampleRateHz: opusRateHz, channels }, 0, samples)
  }
  const mp4 = isMp4(bytes) ? yield* readMp4(bytes) : undefined
  if (mp4 !== undefined) {
    const { samples, ...shape } = mp4
    return compressed(bytes, { container: 'mp4', encoding: 'aac', ...shape }, 0, samples)
  }
  const tagBytes = id3Bytes(bytes)
  if (isFlac(bytes, tagBytes)) {
    const { samples, ...shape } = yield* readFlac(bytes, tagBytes)
    return compressed(bytes, { container: 'flac', encoding: 'flac', ...shape }, tagBytes, samples)
  }
  if (raw && tagBytes === 0) return undefined
  if (isAac(bytes, tagBytes)) {
    const { samples, ...shape } = yield* readAac(bytes, tagBytes)
    return compressed(bytes, { container: 'aac', encoding: 'aac_adts', ...shape }, tagBytes, samples)
  }
  const mp3Offset = signatureOf(bytes) === undefined ? yield* findMp3(bytes, tagBytes) : undefined
  if (mp3Offset !== undefined) {
    const { samples, dataOffset, ...shape } = yield* readMp3(bytes, mp3Offset)
    return compressed(bytes, { container: 'mp3', encoding: 'mp3', ...shape }, dataOffset, samples)
  }
  return undefined
}

function* wavLayout(bytes: ChunkedBytes): Steps<Layout> {
  const { isFloat64, ...wav } = readAnyWav(bytes)
  const { format } = wav
  checkShape(format)
  const layout = isFloat64 ? { format, ...(yield* narrowed(bytes, wav)) } : wav
  return { ...layout, durationMs: sampleMs(format, layout.dataBytes) }
}

/** Returns only the MP3 frames from the WAV. They form an MP3 file, so every provider with MP3 support accepts them. */
function* mp3Layout(bytes: ChunkedBytes, { start, end }: { start: number; end: number }): Steps<Layout> {
  const chunks: Uint8Array[] = []
  for (const piece of bytes.pieces(start, end, end - start)) {
    if (chunks.push(piece) % chunksPerStep === 0) yield
  }
  const file = new ChunkedBytes(chunks)
  const at = yield* findMp3(file, id3Bytes(file))
  if (at === undefined) throw new AudioError('damaged', 'The WAV declares MP3 and holds no frames of MP3.')
  const { samples, dataOffset, ...shape } = yield* readMp3(file, at)
  return {
    chunks,
    bytes: file.length,
    ...compressed(file, { container: 'mp3', encoding: 'mp3', ...shape }, dataOffset, samples),
  }
}

function readRaw(bytes: ChunkedBytes, declared: DeclaredAudio | null): Layout {
  if (declared === null) throw unreadable(bytes)
  const { encoding } = declared
  if (!isSampleEncoding(encoding)) {
    throw new AudioError('damaged', `The audio is declared as ${encoding} and is not a file of that kind.`)
  }
  const format = { container: 'raw', ...declared, encoding } as const
  checkShape(format)
  const dataBytes = bytes.length - (bytes.length % frameBytes(format))
  return { format, dataOffset: 0, dataBytes, durationMs: sampleMs(format, dataBytes) }
}

function compressed(bytes: ChunkedBytes, format: AudioFormat, dataOffset: number, samples: number): Layout {
  checkShape(format)
  return { format, dataOffset, dataBytes: bytes.length - dataOffset, durationMs: toMs(samples, format.sampleRateHz) }
}

function sampleMs(format: AudioFormat & { encoding: SampleEncoding }, dataBytes: number): number {
  return toMs(dataBytes / frameBytes(format), format.sampleRateHz)
}

function toMs(frames: number, rateHz: number): number {
  return Math.ceil((frames * 1000) / rateHz)
}

/**
 * Throws AudioError if the header and the declaration differ, because a wrong declaration would turn speech into noise.
 */
function checkAgreement(actual: AudioFormat, declared: DeclaredAudio): void {
  const same =
    actual.encoding === declared.encoding &&
    actual.sampleRateHz === declared.sampleRateHz &&
    actual.channels === declared.channels
  if (same) return
  throw new AudioError(
    'damaged',
    `The body is a ${actual.container} file of ${actual.encoding}, ${actual.sampleRateHz} Hz, ${actual.channels} channels, and something else is declared: declare only audio without a header.`,
  )
}

function checkShape(format: AudioFormat): void {
  const { sampleRateHz: rate, channels } = format
  if (!Number.isInteger(rate) || rate < sampleRateHz.min || rate > sampleRateHz.max) {
    throw new AudioError(
      'unsupported',
      `A sample rate of ${rate} Hz is not read; ${sampleRateHz.min} to ${sampleRateHz.max} are.`,
    )
  }
  if (!Number.isInteger(channels) || channels < 1 || channels > channelsMax) {
    throw new AudioError('unsupported', `${channels} channels are not read; 1 to ${channelsMax} are.`)
  }
}

/**
 * Returns an error that names the format, for well-known formats without support. So the sender learns why the file
 * must be converted.
 */
function unreadable(bytes: ChunkedBytes): AudioError {
  const signature = signatureOf(bytes)
  const readable = 'WAV, FLAC, Ogg/Opus, WebM/Opus and MP3 are read, and raw samples when they are declared'
  return signature
    ? new AudioError('unsupported', `The audio is ${signature.name}; ${readable}.`)
    : new AudioError('unrecognised', `The audio is in no known format; ${readable}.`)
}

function signatureOf(bytes: ChunkedBytes) {
  const head = bytes.view(0, 12)
  return signatures.find(({ at, text }) => ascii(head, at, text.length) === text)
}

const signatures = [
  { at: 4, text: 'ftyp', name: 'an MP4 file' },
  { at: 0, text: 'FORM', name: 'an AIFF file' },
  { at: 0, text: '#!AMR', name: 'an AMR file' },
  { at: 0, text: '.snd', name: 'an AU file' },
  { at: 0, text: 'RIFX', name: 'a big-endian WAV file' },
  { at: 8, text: 'AVI ', name: 'an AVI file' },
]
