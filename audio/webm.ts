/**
 * WebM and Matroska (RFC 9559, over the EBML of RFC 8794) with Opus in them, as browsers record it. The file is a tree of elements: an
 * id, a size, the content. A browser that records live leaves the sizes of the segment and of its clusters unknown, so the tree is not
 * read as one: the walk steps into those elements and over all others.
 *
 *   EBML head ─ Segment ─┬─ Tracks ─ TrackEntry (number, codec, channels)
 *                        └─ Cluster ─┬─ SimpleBlock (track, time, packet)
 *                                    └─ BlockGroup ─ Block (likewise)
 */
import { ascii, type ChunkedBytes } from './chunked-bytes.ts'
import { AudioError } from './error.ts'
import { opusPacketBytesMax, opusRateHz, packetSamples } from './opus.ts'

export type WebmInfo = { channels: number; samples: number }

const id = {
  segment: 0x18538067,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  codec: 0x86,
  audio: 0xe1,
  channels: 0x9f,
  codecDelay: 0x56aa,
  encodings: 0x6d80,
  cluster: 0x1f43b675,
  blockGroup: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const

const entered: ReadonlySet<number> = new Set([id.segment, id.tracks, id.cluster, id.blockGroup])
const elementHeadBytesMax = 12

export function isWebm(bytes: ChunkedBytes): boolean {
  return ascii(bytes.view(0, 4), 0, 4) === '\x1a\x45\xdf\xa3'
}

/** Throws AudioError `unsupported` (another codec), `truncated`, `damaged`. */
export function readWebm(bytes: ChunkedBytes): WebmInfo {
  let samples = 0
  const { channels, delaySamples, packets } = openTrack(bytes)
  for (const packet of packets) samples += packetSamples(packet.head)
  return { channels, samples: Math.max(0, samples - delaySamples) }
}

/** The packets of the first Opus track in order. Throws AudioError like readWebm. */
export function* webmPackets(bytes: ChunkedBytes): Generator<Uint8Array> {
  for (const { offset, size } of openTrack(bytes).packets) yield bytes.view(offset, size)
}

type Packet = { head: Uint8Array; offset: number; size: number }
type Track = { number: number; codec: string; channels: number; delaySamples: number; isEncoded: boolean }

function openTrack(bytes: ChunkedBytes): Track & { packets: Iterable<Packet> } {
  const tracks: Track[] = []
  for (const element of elements(bytes, 0, bytes.length)) {
    if (element.id === id.trackEntry) tracks.push(readTrack(bytes, element))
    if (element.id === id.cluster) break
  }
  const track = tracks.find(({ codec }) => codec === 'A_OPUS')
  if (!track) throw new AudioError('unsupported', `The WebM file holds ${codecsOf(tracks)}; only Opus is read here.`)
  if (track.isEncoded) throw new AudioError('unsupported', 'The WebM file is compressed or encrypted once more.')
  if (track.channels > 2)
    throw new AudioError('unsupported', `${track.channels} channels in a WebM file are not read; 1 and 2 are.`)
  return { ...track, packets: packetsOf(bytes, track.number) }
}

function codecsOf(tracks: readonly Track[]): string {
  const names = tracks.map(({ codec }) => codec.replace(/^[AV]_/, '')).filter((name) => /^[A-Z0-9_/]{1,32}$/.test(name))
  return names.length === 0 ? 'no audio' : names.slice(0, 3).join(' and ')
}

function* packetsOf(bytes: ChunkedBytes, track: number): Generator<Packet> {
  for (const element of elements(bytes, 0, bytes.length)) {
    if (element.id !== id.simpleBlock && element.id !== id.block) continue
    const head = bytes.view(element.offset, 16)
    const number = vint(head, 0, true)
    // Behind the number of the track come the time, two bytes, and the flags.
    const headBytes = (number?.bytes ?? 0) + 3
    if (number === null || element.size < headBytes) throw damaged(element.offset)
    if (number.value !== track) continue
    if ((head[headBytes - 1]! & 0x06) !== 0)
      throw new AudioError('unsupported', 'The WebM file has several packets in a block, which is not read here.')
    const size = element.size - headBytes
    if (size > opusPacketBytesMax) throw damaged(element.offset)
    if (size > 0) yield { head: head.subarray(headBytes, headBytes + 2), offset: element.offset + headBytes, size }
  }
}

function readTrack(bytes: ChunkedBytes, { offset, size }: Element): Track {
  const track: Track = { number: 0, codec: '', channels: 1, delaySamples: 0, isEncoded: false }
  for (const child of elements(bytes, offset, offset + size)) {
    if (child.id === id.trackNumber) track.number = numberAt(bytes, child)
    if (child.id === id.codec) track.codec = textAt(bytes, child)
    if (child.id === id.codecDelay) track.delaySamples = Math.round((numberAt(bytes, child) * opusRateHz) / 1e9)
    if (child.id === id.encodings) track.isEncoded = true
    if (child.id === id.audio)
      for (const part of elements(bytes, child.offset, child.offset + child.size))
        if (part.id === id.channels) track.channels = numberAt(bytes, part)
  }
  return track
}

/** `offset` and `size` are those of the content. */
type Element = { id: number; offset: number; size: number }

/** Every element from `start` to `end`; of those that are stepped into, the children follow. */
function* elements(bytes: ChunkedBytes, start: number, end: number): Generator<Element> {
  for (let at = start; at < end; ) {
    const head = bytes.view(at, Math.min(elementHeadBytesMax, end - at))
    const name = vint(head, 0, false)
    const size = name && vint(head, name.bytes, true)
    if (!name || !size) throw head.length < elementHeadBytesMax ? cutOff() : damaged(at)
    const offset = at + name.bytes + size.bytes
    const isEntered = entered.has(name.value)
    if (size.value === null && !isEntered) throw damaged(at)
    const contentBytes = size.value ?? end - offset
    if (!isEntered && offset + contentBytes > end) throw end === bytes.length ? cutOff() : damaged(at)
    yield { id: name.value, offset, size: contentBytes }
    at = isEntered ? offset : offset + contentBytes
  }
}

/**
 * A number whose first byte says by its leading zeros how many bytes follow (RFC 8794, 4). `isSize`: that mark is no part of the number,
 * and all ones mean an unknown size, which is null. Null alone where the bytes end first or the mark is missing.
 */
function vint(bytes: Uint8Array, at: number, isSize: true): { value: number | null; bytes: number } | null
function vint(bytes: Uint8Array, at: number, isSize: false): { value: number; bytes: number } | null
function vint(bytes: Uint8Array, at: number, isSize: boolean): { value: number | null; bytes: number } | null {
  const first = bytes[at]
  if (first === undefined || first === 0) return null
  const length = Math.clz32(first) - 23
  if (at + length > bytes.length || (!isSize && length > 4)) return null
  const ones = 2 ** (8 - length) - 1
  let value = isSize ? first & ones : first
  let isUnknown = isSize && (first & ones) === ones
  for (let i = 1; i < length; i++) {
    value = value * 256 + bytes[at + i]!
    isUnknown &&= bytes[at + i] === 0xff
  }
  return { value: isUnknown ? null : value, bytes: length }
}

function numberAt(bytes: ChunkedBytes, { offset, size }: Element): number {
  if (size > 8) throw damaged(offset)
  return bytes.view(offset, size).reduce((value, byte) => value * 256 + byte, 0)
}

const textBytesMax = 64

function textAt(bytes: ChunkedBytes, { offset, size }: Element): string {
  const text = bytes.view(offset, Math.min(size, textBytesMax))
  return ascii(text, 0, text.length).replace(/\0+$/, '')
}

function damaged(at: number): AudioError {
  return new AudioError('damaged', `The WebM file is damaged: byte ${at} begins no element.`)
}

function cutOff(): AudioError {
  return new AudioError('truncated', 'The WebM file ends in the middle of an element: the upload was cut off.')
}
