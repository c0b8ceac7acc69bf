/**
 * Reads WebM and Matroska (RFC 9559, over EBML, RFC 8794) with Opus, as browsers record it. The file is a tree. Each
 * element has an id, a size and the content. A browser that records live leaves the segment's and the clusters' sizes
 * unknown, so the file is not read as a tree: the walk enters the container elements and steps over all other elements.
 *
 *   EBML head ─ Segment ─┬─ Tracks ─ TrackEntry (number, codec, channels)
 *                        └─ Cluster ─┬─ SimpleBlock (track, time, packet)
 *                                    └─ BlockGroup ─ Block (likewise)
 */
import { ascii, type ChunkedBytes } from './chunked-bytes.ts'
import { AudioError } from './error.ts'
import { opusPacketBytesMax, opusRateHz, samplesOfHead } from './opus.ts'
import type { Steps } from './steps.ts'

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
/** Limits the elements before the first cluster. A film with many tracks has a few hundred. */
const headElementsMax = 3000
/**
 * Limits the elements from the first cluster on. Four hours have 5,760,000 blocks with 2.5 ms each, or as many elements
 * in block groups with 10 ms each.
 */
const elementsMax = 6_000_000
const elementsPerStep = 2000

export function isWebm(bytes: ChunkedBytes): boolean {
  return ascii(bytes.view(0, 4), 0, 4) === '\x1a\x45\xdf\xa3'
}

/**
 * Returns the recording's channels and sample count. Throws AudioError `unsupported` (another codec), `truncated`,
 * `damaged`.
 */
export function* readWebm(bytes: ChunkedBytes): Steps<WebmInfo> {
  const { channels, delaySamples, packets } = openTrack(bytes)
  let samples = 0
  for (let looked = 1; packets.next(); looked++) {
    if (packets.isPacket) samples += packets.samples()
    if (looked % elementsPerStep === 0) yield
  }
  return { channels, samples: Math.max(0, samples - delaySamples) }
}

const noPacket = new Uint8Array(0)

/**
 * Yields the first Opus track's packets in order. After each step it yields an empty array, so the calling code can
 * pause. Throws AudioError like readWebm.
 */
export function* webmPackets(bytes: ChunkedBytes): Generator<Uint8Array> {
  const { packets } = openTrack(bytes)
  for (let looked = 1; packets.next(); looked++) {
    if (packets.isPacket) yield bytes.view(packets.offset, packets.size)
    if (looked % elementsPerStep === 0) yield noPacket
  }
}

type Track = { number: number; codec: string; channels: number; delaySamples: number; isEncoded: boolean }

function openTrack(bytes: ChunkedBytes): Track & { packets: Packets } {
  const tracks: Track[] = []
  const budget = { elements: headElementsMax }
  const elements = new Elements(bytes, 0, bytes.length, budget)
  let start = bytes.length
  while (start === bytes.length && elements.next()) {
    if (elements.id === id.trackEntry) tracks.push(readTrack(bytes, elements, budget))
    if (elements.id === id.cluster) start = elements.start
  }
  const track = tracks.find(({ codec }) => codec === 'A_OPUS')
  if (!track) throw new AudioError('unsupported', `The WebM file holds ${codecsOf(tracks)}; only Opus is read here.`)
  if (track.isEncoded) throw new AudioError('unsupported', 'The WebM file is compressed or encrypted once more.')
  if (track.channels > 2)
    throw new AudioError('unsupported', `${track.channels} channels in a WebM file are not read; 1 and 2 are.`)
  return { ...track, packets: new Packets(bytes, start, track.number) }
}

function codecsOf(tracks: readonly Track[]): string {
  const names = tracks.map(({ codec }) => codec.replace(/^[AV]_/, '')).filter((name) => /^[A-Z0-9_/]{1,32}$/.test(name))
  return names.length === 0 ? 'no audio' : names.slice(0, 3).join(' and ')
}

/**
 * Walks over the elements from the first cluster on. At each element it states whether the element is a packet in the
 * track, and where the packet is.
 */
class Packets {
  isPacket = false
  offset = 0
  size = 0
  readonly #bytes: ChunkedBytes
  readonly #elements: Elements
  readonly #track: number

  constructor(bytes: ChunkedBytes, start: number, track: number) {
    this.#bytes = bytes
    this.#elements = new Elements(bytes, start, bytes.length, { elements: elementsMax })
    this.#track = track
  }

  /** Goes to the next element. Returns false at the end. */
  next(): boolean {
    const elements = this.#elements
    if (!elements.next()) return false
    this.isPacket = (elements.id === id.simpleBlock || elements.id === id.block) && this.#isOfTrack(elements)
    return true
  }

  samples(): number {
    return samplesOfHead(this.#bytes.byteAt(this.offset)!, this.#bytes.byteAt(this.offset + 1) ?? 0)
  }

  #isOfTrack({ offset, end }: Elements): boolean {
    const bytes = this.#bytes
    const first = bytes.byteAt(offset) ?? 0
    const track = numberIn(bytes, offset, first, true)
    // The time (two bytes) and the flags follow the track number.
    this.offset = offset + vintBytes(first) + 3
    this.size = end - this.offset
    if (first === 0 || this.size < 0) throw damaged(offset)
    if (track !== this.#track) return false
    if ((bytes.byteAt(this.offset - 1)! & 0x06) !== 0)
      throw new AudioError('unsupported', 'The WebM file has several packets in a block, which is not read here.')
    if (this.size > opusPacketBytesMax) throw damaged(offset)
    return this.size > 0
  }
}

function readTrack(bytes: ChunkedBytes, { offset, end }: Elements, budget: Budget): Track {
  const track: Track = { number: 0, codec: '', channels: 1, delaySamples: 0, isEncoded: false }
  const child = new Elements(bytes, offset, end, budget)
  while (child.next()) {
    if (child.id === id.trackNumber) track.number = numberAt(bytes, child)
    if (child.id === id.codec) track.codec = textAt(bytes, child)
    if (child.id === id.codecDelay) track.delaySamples = Math.round((numberAt(bytes, child) * opusRateHz) / 1e9)
    if (child.id === id.encodings) track.isEncoded = true
    if (child.id === id.audio) track.channels = readChannels(bytes, child, budget) ?? track.channels
  }
  return track
}

function readChannels(bytes: ChunkedBytes, { offset, end }: Elements, budget: Budget): number | undefined {
  let channels: number | undefined
  const part = new Elements(bytes, offset, end, budget)
  while (part.next()) if (part.id === id.channels) channels = numberAt(bytes, part)
  return channels
}

/** The number of elements that may still be read. Walks over an element's parts share one budget. */
type Budget = { elements: number }

/**
 * Walks over every element from `start` to `end`. If an element is entered, its children follow. It is a cursor and not
 * an iterator, because a large file has millions of elements.
 */
class Elements {
  id = 0
  start = 0
  /** The current element's content begins at `offset` and ends before `end`. */
  offset = 0
  end = 0
  readonly #bytes: ChunkedBytes
  readonly #end: number
  readonly #budget: Budget
  #at: number

  constructor(bytes: ChunkedBytes, start: number, end: number, budget: Budget) {
    this.#bytes = bytes
    this.#end = end
    this.#budget = budget
    this.#at = start
  }

  /** Goes to the next element. Returns false at the end. */
  next(): boolean {
    const at = this.#at
    if (at >= this.#end) return false
    if (--this.#budget.elements < 0) throw tooMany()
    const size = this.#readHead(at)
    const isEntered = entered.has(this.id)
    if (size === Infinity && !isEntered) throw damaged(at)
    this.end = Math.min(this.offset + size, isEntered ? this.#end : Infinity)
    if (this.end > this.#end) throw this.#end === this.#bytes.length ? cutOff() : damaged(at)
    this.start = at
    this.#at = isEntered ? this.offset : this.end
    return true
  }

  /** Reads an element's id and returns its size. An id has at most four bytes and includes its length marker. */
  #readHead(at: number): number {
    const bytes = this.#bytes
    const name = bytes.byteAt(at) ?? 0
    const sizeAt = at + vintBytes(name)
    const size = sizeAt < this.#end ? bytes.byteAt(sizeAt)! : 0
    this.offset = sizeAt + vintBytes(size)
    if (name < 0x10 || size === 0 || this.offset > this.#end) {
      throw this.#end - at < elementHeadBytesMax ? cutOff() : damaged(at)
    }
    this.id = numberIn(bytes, at, name, false)
    return numberIn(bytes, sizeAt, size, true)
  }
}

/**
 * Returns a number's length in bytes. The first byte's leading zero bits state how many bytes follow (RFC 8794, 4). A
 * number never begins with byte 0.
 */
function vintBytes(first: number): number {
  return Math.clz32(first) - 23
}

/**
 * Reads a number. If `isSize`, the length marker is not part of it. If all bits are ones, the size is unknown, and this
 * returns Infinity.
 */
function numberIn(bytes: ChunkedBytes, at: number, first: number, isSize: boolean): number {
  const length = vintBytes(first)
  const ones = 2 ** (8 - length) - 1
  let value = isSize ? first & ones : first
  let isUnknown = isSize && value === ones
  for (let i = 1; i < length; i++) {
    const byte = bytes.byteAt(at + i) ?? 0
    value = value * 256 + byte
    isUnknown &&= byte === 0xff
  }
  return isUnknown ? Infinity : value
}

function numberAt(bytes: ChunkedBytes, { offset, end }: Elements): number {
  if (end - offset > 8) throw damaged(offset)
  return bytes.view(offset, end - offset).reduce((value, byte) => value * 256 + byte, 0)
}

const textBytesMax = 64

function textAt(bytes: ChunkedBytes, { offset, end }: Elements): string {
  const text = bytes.view(offset, Math.min(end - offset, textBytesMax))
  return ascii(text, 0, text.length).replace(/\0+$/, '')
}

function damaged(at: number): AudioError {
  return new AudioError('damaged', `The WebM file is damaged: byte ${at} begins no element.`)
}

function tooMany(): AudioError {
  return new AudioError('damaged', 'The WebM file has more elements than any recording needs.')
}

function cutOff(): AudioError {
  return new AudioError('truncated', 'The WebM file ends in the middle of an element: the upload was cut off.')
}
