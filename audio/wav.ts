/**
 * Reads and writes RIFF/WAVE as in Microsoft's Multimedia Programming Interface 1.0, with WAVE_FORMAT_EXTENSIBLE, and
 * EBU Tech 3306 (RF64) for sizes beyond 32 bits.
 */
import { ascii, ChunkedBytes, u16le, u32le } from './chunked-bytes.ts'
import { AudioError } from './error.ts'
import type { AudioFormat } from './format.ts'
import { frameBytes, type SampleEncoding, sampleEncodings } from './pcm.ts'

export type WavLayout = { format: AudioFormat & { encoding: SampleEncoding }; dataOffset: number; dataBytes: number }

type WavFormat = WavLayout['format'] & { isFloat64: boolean }

const tagPcm = 1
const tagFloat = 3
const tagMp3 = 0x55
const float64Bits = 64
const tagExtensible = 0xfffe
const tags: Readonly<Record<SampleEncoding, number>> = {
  pcm_u8: tagPcm,
  pcm_s16le: tagPcm,
  pcm_s24le: tagPcm,
  pcm_s32le: tagPcm,
  pcm_f32le: tagFloat,
  alaw: 6,
  mulaw: 7,
}
/** A streaming recorder does not know the length and writes 0x7fffffff, 0x7ffff000 or 0xffffffff instead. */
const placeholderBytesMin = 0x7fff0000
/** If less than this is missing at a recording's end, a person does not notice. In seconds. */
const unheardS = 0.02
/**
 * The maximum number of chunks before the samples. The limit bounds the work for a hostile body with only chunk
 * headers.
 */
const chunksMax = 1000

export function isWav(bytes: ChunkedBytes): boolean {
  const head = bytes.view(0, 12)
  return head.length === 12 && ['RIFF', 'RF64', 'BW64'].includes(ascii(head, 0, 4)) && ascii(head, 8, 4) === 'WAVE'
}

/** Returns the sample format and where the samples are. Throws AudioError `truncated`, `damaged`, `unsupported`. */
export function readWav(bytes: ChunkedBytes): WavLayout {
  const { isFloat64, ...layout } = readAnyWav(bytes)
  if (isFloat64) throw unsupported(tagFloat, float64Bits)
  return layout
}

/**
 * Like `readWav`, but also accepts 64-bit floats. Their `format` is `pcm_f32le`, because they are converted to it
 * later.
 */
export function readAnyWav(bytes: ChunkedBytes): WavLayout & { isFloat64: boolean } {
  const head = readHeadOf(bytes, true)
  if (head === null) throw new AudioError('truncated', 'The WAV ends before its "data" chunk: the upload was cut off.')
  const { format, at, declaredBytes } = head
  const { isFloat64, ...audioFormat } = format
  return { format: audioFormat, isFloat64, dataOffset: at, dataBytes: dataBytes(bytes, at, declaredBytes, format) }
}

/**
 * Reads the header at a stream's start. The lengths are ignored, because a stream does not know its length. Returns
 * null if more bytes are needed. Throws AudioError if the bytes are not a WAV file, the header is damaged or the format
 * is unsupported.
 */
export function readWavStart(start: Uint8Array): Pick<WavLayout, 'format' | 'dataOffset'> | null {
  if (start.length < 12) return null
  const bytes = new ChunkedBytes([start])
  if (!isWav(bytes)) throw new AudioError('unrecognised', 'The bytes are no WAV.')
  const head = readHeadOf(bytes, false)
  if (head === null) return null
  const { isFloat64, ...format } = head.format
  if (isFloat64) throw unsupported(tagFloat, float64Bits)
  return { format, dataOffset: head.at }
}

type WavHead = { format: WavFormat; at: number; declaredBytes: number }

/** Reads up to the "data" chunk. Its samples begin at `at`. Returns null if the bytes end before. */
function readHeadOf(bytes: ChunkedBytes, checksBlock: boolean): WavHead | null {
  let format: WavFormat | undefined
  let longDataBytes: number | undefined
  for (const { id, at, size } of wavChunks(bytes)) {
    if (id === 'fmt ') format = readFormat(bytes.view(at, Math.min(size, 40)), checksBlock)
    if (id === 'ds64' && size >= 16) longDataBytes = readLongDataBytes(bytes.view(at, 16))
    if (id !== 'data') continue
    if (format === undefined) throw new AudioError('damaged', 'The WAV has no "fmt " chunk before its data.')
    return { format, at, declaredBytes: size === 0xffffffff && longDataBytes !== undefined ? longDataBytes : size }
  }
  return null
}

/**
 * Returns where the MP3 frames are in a WAV with MPEGLAYER3WAVEFORMAT (RFC 2361), as written by dictation machines.
 * Returns undefined if the WAV has another format. Throws AudioError `truncated`.
 */
export function mp3InWav(bytes: ChunkedBytes): { start: number; end: number } | undefined {
  let isMp3 = false
  for (const { id, at, size } of wavChunks(bytes)) {
    if (id === 'fmt ') isMp3 = size >= 2 && u16le(bytes.view(at, 2), 0) === tagMp3
    if (id === 'data') return isMp3 ? { start: at, end: at + presentBytes(bytes, at, size, at) } : undefined
  }
  return undefined
}

type Chunk = { id: string; at: number; size: number }

/**
 * Yields the chunks up to "data". The "data" chunk may be truncated. If an earlier chunk is truncated, the sequence
 * ends.
 */
function* wavChunks(bytes: ChunkedBytes): Generator<Chunk> {
  let at = 12
  for (let chunks = 0; at + 8 <= bytes.length; chunks++) {
    if (chunks === chunksMax)
      throw new AudioError('damaged', `The WAV has more than ${chunksMax} chunks before its data.`)
    const head = bytes.view(at, 8)
    const id = ascii(head, 0, 4)
    const size = u32le(head, 4)
    at += 8
    if (id !== 'data' && at + size > bytes.length) return
    yield { id, at, size }
    at = nextChunk(bytes, at + size, size % 2)
  }
}

/** A padding byte follows a chunk with an odd size. Some programs omit the padding byte. */
function nextChunk(bytes: ChunkedBytes, end: number, padding: number): number {
  return padding > 0 && chunkIds.has(ascii(bytes.view(end, 4), 0, 4)) ? end : end + padding
}

const chunkIds: ReadonlySet<string> = new Set(['fmt ', 'fact', 'LIST', 'data'])

function dataBytes(bytes: ChunkedBytes, at: number, declared: number, format: WavFormat): number {
  const bytesPerFrame = frameBytes(format) * (format.isFloat64 ? 2 : 1)
  // Some programs count the header, or the whole file, in the samples' size. So the stated size may be too large by
  // this much. If samples are really missing, so short a loss is not audible.
  const excessMax = Math.max(at, bytesPerFrame * Math.ceil(format.sampleRateHz * unheardS))
  const length = presentBytes(bytes, at, declared, excessMax)
  return length - (length % bytesPerFrame)
}

function presentBytes(bytes: ChunkedBytes, at: number, declared: number, excessMax: number): number {
  const present = bytes.length - at
  // If the length is 0 although bytes follow, the recorder never filled in the length. The "data" chunk is really empty
  // only if the RIFF size is right and another chunk follows.
  const riffBytes = u32le(bytes.view(4, 4), 0) + 8
  const isEmpty = riffBytes === bytes.length && chunkIds.has(ascii(bytes.view(at, 4), 0, 4))
  const unknown = declared >= placeholderBytesMin || (declared === 0 && !isEmpty)
  if (!unknown && declared > present + excessMax) {
    throw new AudioError(
      'truncated',
      `The WAV's "data" chunk declares ${declared} bytes and ${present} are there: the upload was cut off.`,
    )
  }
  return unknown ? present : Math.min(declared, present)
}

/**
 * If `checksBlock` is true, the block size must fit the format. Some servers send a wrong block size in a stream's
 * header.
 */
function readFormat(chunk: Uint8Array, checksBlock: boolean): WavFormat {
  if (chunk.length < 16) throw new AudioError('damaged', 'The WAV has a "fmt " chunk that is too short.')
  let tag = u16le(chunk, 0)
  const channels = u16le(chunk, 2)
  const sampleRateHz = u32le(chunk, 4)
  const bits = u16le(chunk, 14)
  if (tag === tagExtensible) {
    if (chunk.length < 40) throw new AudioError('damaged', 'The WAV has a "fmt " chunk that is too short.')
    // The sub-format is a GUID. Its first two bytes are the tag.
    tag = u16le(chunk, 24)
  }
  const isFloat64 = tag === tagFloat && bits === float64Bits
  const encoding = isFloat64 ? 'pcm_f32le' : encodingOf(tag, bits)
  if (encoding === undefined) throw unsupported(tag, bits)
  const blockBytes = sampleEncodings[encoding].bytes * channels * (isFloat64 ? 2 : 1)
  if (checksBlock && u16le(chunk, 12) !== blockBytes) {
    throw new AudioError('damaged', 'The WAV contradicts itself: block size, channels and bits do not fit together.')
  }
  return { container: 'wav', encoding, sampleRateHz, channels, isFloat64 }
}

function unsupported(tag: number, bits: number): AudioError {
  return new AudioError(
    'unsupported',
    `The WAV holds format ${tag} with ${bits} bits a sample, which is not read here.`,
  )
}

function encodingOf(tag: number, bits: number): SampleEncoding | undefined {
  const encodings = Object.keys(tags) as SampleEncoding[]
  return encodings.find((encoding) => tags[encoding] === tag && sampleEncodings[encoding].bytes * 8 === bits)
}

function readLongDataBytes(chunk: Uint8Array): number | undefined {
  return chunk.length < 16 ? undefined : u32le(chunk, 8) + u32le(chunk, 12) * 2 ** 32
}

/** Returns the header for `dataBytes` sample bytes. Pass null if the length is not known yet, as for a stream. */
export function wavHeader(
  format: { encoding: SampleEncoding; sampleRateHz: number; channels: number },
  dataBytes: number | null,
): Uint8Array {
  const pcm = tags[format.encoding] === tagPcm
  // All formats except integer PCM need the extension size and a "fact" chunk.
  const fmtBytes = pcm ? 16 : 18
  const header = new Uint8Array(28 + fmtBytes + (pcm ? 0 : 12))
  const view = new DataView(header.buffer)
  const blockBytes = frameBytes(format)
  const padding = (dataBytes ?? 0) % 2
  writeChunkHead(view, 0, 'RIFF', dataBytes === null ? 0xffffffff : header.length - 8 + dataBytes + padding)
  writeText(view, 8, 'WAVE')
  writeChunkHead(view, 12, 'fmt ', fmtBytes)
  view.setUint16(20, tags[format.encoding], true)
  view.setUint16(22, format.channels, true)
  view.setUint32(24, format.sampleRateHz, true)
  view.setUint32(28, format.sampleRateHz * blockBytes, true)
  view.setUint16(32, blockBytes, true)
  view.setUint16(34, sampleEncodings[format.encoding].bytes * 8, true)
  if (!pcm) {
    writeChunkHead(view, 38, 'fact', 4)
    view.setUint32(46, dataBytes === null ? 0xffffffff : dataBytes / blockBytes, true)
  }
  writeChunkHead(view, header.length - 8, 'data', dataBytes ?? 0xffffffff)
  return header
}

function writeChunkHead(view: DataView, at: number, id: string, size: number): void {
  writeText(view, at, id)
  view.setUint32(at + 4, size, true)
}

function writeText(view: DataView, at: number, text: string): void {
  for (let i = 0; i < text.length; i++) view.setUint8(at + i, text.charCodeAt(i))
}
