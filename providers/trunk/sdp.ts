/**
 * SDP offers and answers (RFC 8866, RFC 3264) for one speech stream in G.711 with DTMF keys as telephone events (RFC
 * 4733). During the whole call a stream is identified by its m= line's position, because several streams may have the
 * same port.
 */
import { isIP } from 'node:net'
import { hostText } from './address.ts'
import { formatsOf, isEvent, isSpeech, type LineEncoding, type SdpFormat } from './sdp-formats.ts'

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

/** The audio described by the other side. `encoding` and both payload types are for packets sent to the other side. */
export type RemoteAudio = {
  /** An IP address or a host name. Host names are not looked up, because a hostile name could resolve to any host. */
  address: string
  port: number
  encoding: LineEncoding
  payloadType: number
  /** Null if the other side does not support telephone events. */
  dtmfPayloadType: number | null
  /** All formats the other side may send: it may change the format during the call (RFC 3264, sections 5.1 and 6.1). */
  formats: readonly SdpFormat[]
  /** The direction from the other side's view. `sendonly` means the other side holds the call. */
  direction: Direction
  /** All m= lines. An SDP answer repeats each line. */
  lines: readonly string[]
  /** This stream's index in `lines`. Null if the other side has stopped the stream. */
  position: number | null
}

const directions: readonly Direction[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive']
/** A packet has 7 bits for the payload type (RFC 3550, section 5.1). */
const payloadTypeMax = 127
/** The offered speech formats. */
const ours: readonly SdpFormat[] = [
  { payloadType: 0, encoding: 'PCMU' },
  { payloadType: 8, encoding: 'PCMA' },
]
const dtmfTypeUsual = 101
/** The payload types to try for telephone events: 101 first, then all dynamic payload types (RFC 3551, section 6). */
const dtmfTypes: readonly number[] = [dtmfTypeUsual, ...Array.from({ length: 32 }, (_, at) => 96 + at)]

/** Returns the first usable stream, or null if no stream is usable. */
export function readSdp(body: string): RemoteAudio | null {
  const description = descriptionOf(body)
  for (const position of description.sections.keys()) {
    const audio = audioAt(description, position)
    if (audio !== null) return audio
  }
  return null
}

/**
 * Reads a later SDP offer in the call. If it stops all streams (port 0), the call has no audio until the next offer
 * (RFC 3264, section 8.2).
 */
export function readLaterOffer(body: string, before: RemoteAudio | null): RemoteAudio | null {
  const lines = descriptionOf(body).sections.map(([first = '']) => first)
  const hasStopped = lines.length > 0 && lines.every((line) => /^m=\S+ +0[ /]/.test(line))
  if (before === null || !hasStopped) return readSdp(body)
  return { ...before, direction: 'inactive', lines, position: null }
}

/**
 * Reads the SDP answer to our offer. The answer's m= line has the same position as our line. Returns null if the other
 * side refused the stream. The other side should send with our payload types, but many devices use the types in their
 * answer, so both are accepted.
 */
export function readAnswer(body: string, before: RemoteAudio | null = null): RemoteAudio | null {
  const offered = offeredFormats(before)
  const audio = audioAt(descriptionOf(body), before?.position ?? 0, offered)
  if (audio === null) return null
  const agreed = offered.filter(({ encoding }) => audio.formats.some((format) => format.encoding === encoding))
  return { ...audio, formats: [...audio.formats, ...agreed], lines: before?.lines ?? audio.lines }
}

/** The values for our SDP. All values except the version stay the same in a dialog. */
export type LocalAudio = { address: string; port: number; id: number; version: number }

/**
 * Writes our SDP offer. `before` is the other side's last description. Its m= lines and payload types are kept (RFC
 * 3264, sections 8 and 8.3.2).
 */
export function writeOffer(local: LocalAudio, before: RemoteAudio | null = null): string {
  const own = audioLines(local.port, offeredFormats(before), 'sendrecv')
  return written(local, before === null ? [own] : placed(before.lines, before.position ?? 0, own))
}

/** Writes our SDP answer: accepts one stream from the offer and refuses all others (port 0). */
export function writeAnswer(local: LocalAudio, offer: RemoteAudio): string {
  const { encoding, payloadType, dtmfPayloadType, direction } = offer
  const events: SdpFormat[] =
    dtmfPayloadType === null ? [] : [{ payloadType: dtmfPayloadType, encoding: 'telephone-event' }]
  const own = audioLines(local.port, [{ payloadType, encoding }, ...events], mirrored[direction])
  return written(local, placed(offer.lines, offer.position, own))
}

const mirrored: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
}

/**
 * Writes our lines at the accepted stream's position and refuses all other streams. A refused m= line keeps its media
 * type, transport and formats (RFC 3264, section 6).
 */
function placed(lines: readonly string[], position: number | null, own: readonly string[]): (readonly string[])[] {
  return lines.map((line, at) => (at === position ? own : [line.replace(/^(m=\S+) +\S+/, '$1 0')]))
}

function offeredFormats(before: RemoteAudio | null): SdpFormat[] {
  return [...ours, { payloadType: before?.dtmfPayloadType ?? freeType(before), encoding: 'telephone-event' }]
}

/**
 * Returns the usual payload type for telephone events, or another type if the other side uses the usual type for
 * another format.
 */
function freeType(before: RemoteAudio | null): number {
  const usedTypes = lineOf(before?.lines[before.position ?? 0] ?? '')?.types ?? []
  return dtmfTypes.find((type) => !usedTypes.includes(type)) ?? dtmfTypeUsual
}

function written({ address, id, version }: LocalAudio, sections: readonly (readonly string[])[]): string {
  const at = `IN IP${isIP(address) === 6 ? 6 : 4} ${hostText(address).replace(/^\[|\]$/g, '')}`
  const session = ['v=0', `o=parley ${id} ${version} ${at}`, 's=-', `c=${at}`, 't=0 0']
  return [...session, ...sections.flat(), ''].join('\r\n')
}

function audioLines(port: number, formats: readonly SdpFormat[], direction: Direction): string[] {
  return [
    `m=audio ${port} RTP/AVP ${formats.map(({ payloadType }) => payloadType).join(' ')}`,
    ...formats.flatMap(({ payloadType, encoding }) => [
      `a=rtpmap:${payloadType} ${encoding}/8000`,
      ...(encoding === 'telephone-event' ? [`a=fmtp:${payloadType} 0-15`] : []),
    ]),
    'a=ptime:20',
    `a=${direction}`,
  ]
}

/** The session's address and direction, and each stream's lines. */
type Description = { address: string | null; direction: Direction | null; sections: readonly (readonly string[])[] }

/**
 * Splits the SDP into the session's values and the streams. Keeps every m= line, because an answer repeats all m=
 * lines. The body is read only once, because a hostile body may contain many streams.
 */
function descriptionOf(body: string): Description {
  const session: string[] = []
  const sections: string[][] = []
  for (const line of body.split(/\r?\n/).map((text) => text.trimEnd())) {
    if (line.startsWith('m=')) sections.push([line])
    else (sections.at(-1) ?? session).push(line)
  }
  return { address: addressIn(session), direction: directionIn(session), sections }
}

/** Reads an m= line. Returns null unless the line describes unencrypted audio over RTP. */
function lineOf(line: string): { port: number; types: readonly number[] } | null {
  const [, port, types] = /^m=audio +([1-9]\d{0,4})(?:\/\d+)? +RTP\/AVP +(\d[\d ]*)$/.exec(line) ?? []
  if (port === undefined || types === undefined || Number(port) > 65_535) return null
  const numbers = types.trim().split(/ +/).map(Number)
  return { port: Number(port), types: numbers.filter((type) => type <= payloadTypeMax) }
}

function audioAt(
  { address: sessionAddress, direction, sections }: Description,
  position: number,
  offered: readonly SdpFormat[] = [],
): RemoteAudio | null {
  const section = sections[position] ?? []
  const line = lineOf(section[0] ?? '')
  const address = addressIn(section) ?? sessionAddress
  if (line === null || address === null) return null
  const formats = formatsOf(section, line.types, offered)
  const speech = formats.find(isSpeech)
  if (speech === undefined) return null
  return {
    address,
    port: line.port,
    encoding: speech.encoding,
    payloadType: speech.payloadType,
    dtmfPayloadType: formats.find(isEvent)?.payloadType ?? null,
    formats,
    direction: directionIn(section) ?? direction ?? 'sendrecv',
    lines: sections.map(([first = '']) => first),
    position,
  }
}

/**
 * Returns the address in a c= line. Skips addresses with a scope (`fe80::1%eth0`), because a scope is valid only on the
 * sender's machine.
 */
function addressIn(lines: readonly string[]): string | null {
  for (const line of lines) {
    const [, address] = /^c=IN +IP[46] +([^\s/]+)/.exec(line) ?? []
    if (address !== undefined && (isIP(address) !== 0 || isHostName(address)) && !address.includes('%')) return address
  }
  return null
}

/**
 * True for a host name. A host name never ends with a number (RFC 1123, section 2.1), but a mistyped IP address does.
 */
const isHostName = (text: string) =>
  text.length <= 253 && /^(?:[a-z0-9_-]{1,63}\.)*(?!\d+\.?$)[a-z0-9_-]{1,63}\.?$/i.test(text)

function directionIn(lines: readonly string[]): Direction | null {
  return directions.find((direction) => lines.includes(`a=${direction}`)) ?? null
}
