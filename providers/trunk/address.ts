/** Reads the addresses in SIP messages: SIP URIs in From and To, and hosts in Via. */
import { isIP } from 'node:net'

/** The SIP URI, with its tag, in a From, To, Contact or Refer-To header. */
export type Address = { uri: string; tag: string | null; text: string }
export type Via = {
  transport: 'UDP' | 'TCP'
  host: string
  port: number | null
  branch: string
  /** True if Via has `rport`: the response is then sent to the request's source port. */
  wantsSourcePort: boolean
}
export type SipUri = { user: string | null; host: string; port: number | null; parameters: ReadonlyMap<string, string> }

export const sipPort = 5060

/** An IP address and port. IPv6 is written without brackets. */
export type Peer = { transport: 'udp' | 'tcp'; address: string; port: number }

/** Reads a header's address. Returns null if the text is not an address. */
export function addressOf(text: string): Address | null {
  if (text.length > 2048) return null
  const [, bracketed, after] = /^(?:"(?:[^"\\]|\\.)*"[ \t]*|[^<"]*)<([^<>]+)>(.*)$/.exec(text) ?? []
  // Without angle brackets, all parameters belong to the header and not to the URI.
  const [, plain, parameters] = bracketed === undefined ? (/^([^;<>"]+)(.*)$/.exec(text) ?? []) : []
  const uri = (bracketed ?? plain)?.trim()
  if (uri === undefined || !/^[a-zA-Z][a-zA-Z0-9+.-]*:\S+$/.test(uri)) return null
  const [, tag] = /;[ \t]*tag[ \t]*=[ \t]*([^;\s,"]{1,256})/i.exec(after ?? parameters ?? '') ?? []
  return { uri, tag: tag ?? null, text }
}

/** Reads a SIP URI, and drops the headers after `?`. Returns null if the text is not a SIP URI. */
export function sipUriOf(uri: string): SipUri | null {
  const [, user, host, port, rest] =
    /^sips?:(?:([^@]*)@)?(\[[0-9a-fA-F:.]+\]|[^:;?@[\]]+)(?::(\d{1,5}))?((?:;[^?]*)?)(?:\?.*)?$/i.exec(uri) ?? []
  if (host === undefined || (port !== undefined && Number(port) > 65_535)) return null
  const parameters = (rest ?? '').split(';').filter((text) => text !== '')
  return {
    user: user === undefined ? null : decoded(user.replace(/[:;].*$/, '')),
    host: host.replace(/^\[|\]$/g, '').toLowerCase(),
    port: port === undefined ? null : Number(port),
    parameters: new Map(parameters.map((text) => pairOf(text))),
  }
}

/** Returns the number or user name in a SIP or `tel:` URI. */
export function userOf(uri: string): string | null {
  const [, number] = /^tel:([^;?]+)/i.exec(uri) ?? []
  return number === undefined ? (sipUriOf(uri)?.user ?? null) : decoded(number)
}

/** Reads a Via header. Returns null if Via contains no address for a response. */
export function viaOf(text: string): Via | null {
  const [, transport, host, port, rest = ''] =
    /^SIP[ \t]*\/[ \t]*2\.0[ \t]*\/[ \t]*(UDP|TCP)[ \t]+(\[[0-9a-fA-F:.]+\]|[^\s:;,[\]]{1,255})(?:[ \t]*:[ \t]*(\d{1,5}))?[ \t]*(;.*)?$/i.exec(
      text,
    ) ?? []
  if (transport === undefined || host === undefined) return null
  // A socket cannot send to port 0.
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return null
  const parameters = new Map(rest.split(';').map((part) => pairOf(part)))
  const branch = parameters.get('branch') ?? ''
  if (branch === '' || branch.length > 256) return null
  return {
    transport: transport.toUpperCase() === 'TCP' ? 'TCP' : 'UDP',
    host: host.replace(/^\[|\]$/g, ''),
    port: port === undefined ? null : Number(port),
    branch,
    wantsSourcePort: parameters.has('rport'),
  }
}

/**
 * Returns the destination for responses: the source address, with the port in Via, or with the source port if the
 * sender asks for it (RFC 3581).
 */
export function answersTo(via: Via, source: Peer): Peer {
  if (source.transport === 'tcp' || via.wantsSourcePort) return source
  return { ...source, port: via.port ?? sipPort }
}

/** Writes a host for a URI: IPv6 in brackets. */
export const hostText = (host: string) => (isIP(host) === 6 ? `[${host}]` : host)

/** Removes the prefix `::ffff:`, because an IPv6 socket reports IPv4 senders as `::ffff:192.0.2.1`. */
export const plainAddress = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '')

function pairOf(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text.trim().toLowerCase(), ''] : [text.slice(0, at).trim().toLowerCase(), text.slice(at + 1).trim()]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
