/** Offers and answers of SDP (RFC 8866, RFC 3264) for one stream of speech in G.711 with keys as telephone events (RFC 4733). */
import { isIP } from 'node:net'
import { hostText } from './address.ts'

export type LineEncoding = 'PCMU' | 'PCMA'
export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

/** The audio that the other side describes. */
export type RemoteAudio = {
  address: string
  port: number
  encoding: LineEncoding
  payloadType: number
  /** Null: it takes no telephone events. */
  dtmfPayloadType: number | null
  /** As the other side sees it: `sendonly` holds the call. */
  direction: Direction
  /** The m= lines, all of which an answer repeats. */
  lines: readonly string[]
}

const staticTypes: Readonly<Record<string, LineEncoding>> = { 0: 'PCMU', 8: 'PCMA' }
const directions: readonly Direction[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive']
const linesMax = 256
const dtmfTypeUsual = 101

/** Null: nothing in it that we can speak. */
export function readSdp(body: string): RemoteAudio | null {
  const lines = body.split(/\r?\n/, linesMax)
  const sections = sectionsOf(lines)
  const audio = sections.find(([first = '']) => /^m=audio [1-9]\d{0,4} RTP\/AVP /.test(first))
  if (audio === undefined) return null
  const session = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith('m=')),
  )
  const [, port = '', types = ''] = /^m=audio (\d+)(?:\/\d+)? \S+ ([\d ]+)/.exec(audio[0] ?? '') ?? []
  const address = addressIn(audio) ?? addressIn(session)
  const names = rtpmapsOf(audio)
  const offered = types.trim().split(/ +/)
  const speech = offered.map((type) => ({ type, encoding: encodingOf(type, names) })).find(({ encoding }) => encoding)
  if (address === null || speech?.encoding == null || Number(port) > 65_535) return null
  const dtmf = offered.find((type) => names.get(type) === 'telephone-event/8000')
  return {
    address,
    port: Number(port),
    encoding: speech.encoding,
    payloadType: Number(speech.type),
    dtmfPayloadType: dtmf === undefined ? null : Number(dtmf),
    direction: directionIn(audio) ?? directionIn(session) ?? 'sendrecv',
    lines: sections.map(([first = '']) => first),
  }
}

/** The part of a description that stays the same in a dialog, and the count of its versions. */
export type LocalAudio = { address: string; port: number; id: number; version: number }

export function writeOffer(local: LocalAudio): string {
  return written(local, [
    audioLines(
      local.port,
      [
        ['PCMU', 0],
        ['PCMA', 8],
      ],
      dtmfTypeUsual,
      'sendrecv',
    ),
  ])
}

/** All streams of the offer but the first one of speech are refused (port 0). */
export function writeAnswer(local: LocalAudio, remote: RemoteAudio): string {
  const { encoding, payloadType, dtmfPayloadType, direction, lines } = remote
  const taken = lines.findIndex((line) => line.startsWith(`m=audio ${remote.port}`))
  const sections = lines.map((line, at) =>
    at === taken
      ? audioLines(local.port, [[encoding, payloadType]], dtmfPayloadType, mirrored[direction])
      : [line.replace(/^(m=\S+) \S+/, '$1 0')],
  )
  return written(local, sections)
}

const mirrored: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
}

function written({ address, id, version }: LocalAudio, sections: readonly (readonly string[])[]): string {
  const at = `IN IP${isIP(address) === 6 ? 6 : 4} ${hostText(address).replace(/^\[|\]$/g, '')}`
  const session = ['v=0', `o=parley ${id} ${version} ${at}`, 's=-', `c=${at}`, 't=0 0']
  return [...session, ...sections.flat(), ''].join('\r\n')
}

function audioLines(
  port: number,
  encodings: readonly (readonly [LineEncoding, number])[],
  dtmfType: number | null,
  direction: Direction,
): string[] {
  const types = [...encodings.map(([, type]) => type), ...(dtmfType === null ? [] : [dtmfType])]
  return [
    `m=audio ${port} RTP/AVP ${types.join(' ')}`,
    ...encodings.map(([encoding, type]) => `a=rtpmap:${type} ${encoding}/8000`),
    ...(dtmfType === null ? [] : [`a=rtpmap:${dtmfType} telephone-event/8000`, `a=fmtp:${dtmfType} 0-15`]),
    'a=ptime:20',
    `a=${direction}`,
  ]
}

/** The lines of each stream. */
function sectionsOf(lines: readonly string[]): string[][] {
  const sections: string[][] = []
  for (const line of lines) {
    if (line.startsWith('m=')) sections.push([line])
    else sections.at(-1)?.push(line)
  }
  return sections
}

/** Names are not looked up: the owner of the name would choose the host. An address with a scope (`fe80::1%eth0`) means nothing elsewhere. */
function addressIn(lines: readonly string[]): string | null {
  for (const line of lines) {
    const [, address] = /^c=IN IP[46] ([^\s/]+)/.exec(line) ?? []
    if (address !== undefined && isIP(address) !== 0 && !address.includes('%')) return address
  }
  return null
}

function rtpmapsOf(lines: readonly string[]): Map<string, string> {
  return new Map(
    lines.flatMap((line) => {
      const [, type, name] = /^a=rtpmap:(\d{1,3}) (\S+)/.exec(line) ?? []
      return type === undefined || name === undefined ? [] : [[type, name.toLowerCase()] as const]
    }),
  )
}

function encodingOf(type: string, names: ReadonlyMap<string, string>): LineEncoding | null {
  const name = names.get(type)
  if (name === undefined) return staticTypes[type] ?? null
  if (/^pcmu\/8000(\/1)?$/.test(name)) return 'PCMU'
  return /^pcma\/8000(\/1)?$/.test(name) ? 'PCMA' : null
}

function directionIn(lines: readonly string[]): Direction | null {
  return directions.find((direction) => lines.includes(`a=${direction}`)) ?? null
}
