/**
 * Reads and writes SIP messages (RFC 3261). Bytes from the network may be hostile. So the reader has limits, never
 * throws, and returns null unless the bytes are a whole message.
 */
import { type Address, addressOf, type Via, viaOf } from './address.ts'

/** A header: the long name in lower case, and the value without line breaks. */
export type Header = readonly [name: string, value: string]

type Common = {
  headers: readonly Header[]
  body: string
  callId: string
  cseq: { number: number; method: string }
  from: Address
  to: Address
  /** The topmost Via header. */
  via: Via
}
export type SipRequest = Common & { method: string; uri: string }
export type SipResponse = Common & { code: number; reason: string }
export type SipMessage = SipRequest | SipResponse

export const messageBytesMax = 65_535
export const bodyBytesMax = 16_384
export const headBytesMax = 32_768
export const headersMax = 128
const cseqMax = 2 ** 31

const longNames: Readonly<Record<string, string>> = {
  a: 'accept-contact',
  b: 'referred-by',
  c: 'content-type',
  e: 'content-encoding',
  f: 'from',
  i: 'call-id',
  k: 'supported',
  l: 'content-length',
  m: 'contact',
  o: 'event',
  r: 'refer-to',
  s: 'subject',
  t: 'to',
  u: 'allow-events',
  v: 'via',
}

export const isRequest = (message: SipMessage): message is SipRequest => 'method' in message

/** Reads a message. Returns null if the bytes are not a whole message. */
export function readMessage(bytes: Buffer): SipMessage | null {
  if (bytes.length > messageBytesMax) return null
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0 || headEnd > headBytesMax) return null
  const lines = linesOf(bytes.toString('utf8', 0, headEnd))
  const first = lines.shift() ?? ''
  const headers = headersOf(lines)
  if (headers === null) return null
  const body = bodyOf(bytes.subarray(headEnd + 4), valueOf(headers, 'content-length'))
  const common = commonOf(headers)
  if (body === null || common === null) return null
  const [, code, reason] = /^SIP\/2\.0 ([1-6]\d\d)(?: (.*))?$/.exec(first) ?? []
  if (code !== undefined) return { ...common, headers, body, code: Number(code), reason: reason ?? '' }
  const [, method, uri] = /^([A-Z]{1,32}) (\S{1,2048}) SIP\/2\.0$/.exec(first) ?? []
  if (method === undefined || uri === undefined || method !== common.cseq.method) return null
  return { ...common, headers, body, method, uri }
}

/** Returns the Content-Length, or null if there is no valid length or the length is over the limit. */
export function contentLengthOf(head: string): number | null {
  const [, digits] = /^(?:content-length|l)[ \t]*:[ \t]*(\d{1,6})[ \t]*$/im.exec(head) ?? []
  return digits === undefined || Number(digits) > bodyBytesMax ? null : Number(digits)
}

/** Splits the header section into lines. A line beginning with a space continues the previous line. */
export function linesOf(head: string): string[] {
  return head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
}

/** Reads the headers. Returns null if a line is not a header, or if there are too many headers. */
export function headersOf(lines: readonly string[]): Header[] | null {
  if (lines.length > headersMax) return null
  const headers: Header[] = []
  for (const line of lines) {
    const [, name, value] = /^([A-Za-z0-9\-.!%*_+`'~]{1,64})[ \t]*:(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined || hasControls(value)) return null
    const lower = name.toLowerCase()
    headers.push([longNames[lower] ?? lower, value.trim()])
  }
  return headers
}

/**
 * Control characters are refused: a line break in a value would become a new header when the value is written again.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters.
const hasControls = (text: string) => /[\u0000-\u0008\u000a-\u001f\u007f]/.test(text)

/**
 * Returns the body. Without a Content-Length the body ends with the datagram. Returns null if the body is too long, or
 * shorter than announced.
 */
function bodyOf(bytes: Buffer, length: string | null): string | null {
  const bodyLength = length === null ? bytes.length : /^\d{1,6}$/.test(length) ? Number(length) : Number.NaN
  if (!(bodyLength <= bytes.length) || bodyLength > bodyBytesMax) return null
  return bytes.toString('utf8', 0, bodyLength)
}

function commonOf(headers: readonly Header[]): Omit<Common, 'headers' | 'body'> | null {
  const [, number, method] = /^(\d{1,10})[ \t]+([A-Z]{1,32})$/.exec(valueOf(headers, 'cseq') ?? '') ?? []
  const via = viaOf(valuesOf(headers, 'via')[0] ?? '')
  const from = addressOf(valueOf(headers, 'from') ?? '')
  const to = addressOf(valueOf(headers, 'to') ?? '')
  const callId = valueOf(headers, 'call-id')
  if (!via || !from || !to || !callId || callId.length > 256 || method === undefined) return null
  if (Number(number) >= cseqMax) return null
  return { callId, cseq: { number: Number(number), method }, from, to, via }
}

export function valueOf(headers: readonly Header[], name: string): string | null {
  return headers.find(([own]) => own === name)?.[1] ?? null
}

/** Returns all values for this header name, the topmost first. A list on one line is split at its commas. */
export function valuesOf(headers: readonly Header[], name: string): string[] {
  return headers.filter(([own]) => own === name).flatMap(([, value]) => splitList(value))
}

/**
 * Splits at commas outside quotes and angle brackets. An unclosed quote or bracket extends to the end. Otherwise the
 * text after each unclosed quote would be searched again, and a long header could block the process.
 */
function splitList(text: string): string[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\[^])*(?:"|\\?$)|<[^>]*(?:>|$)|[^,"<])+/g) ?? []
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

/** Writes a message as bytes. `first` is the message's first line. */
export function writeMessage(first: string, headers: readonly Header[], body: string): Buffer {
  const lines = headers.map(([name, value]) => `${wireName(name)}: ${oneLine(value)}`)
  const length = `Content-Length: ${Buffer.byteLength(body)}`
  return Buffer.from([oneLine(first), ...lines, length, '', body].join('\r\n'))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern replaces control characters.
const oneLine = (text: string) => text.replace(/[\u0000-\u001f\u007f]+/g, ' ')

const unusualNames: Readonly<Record<string, string>> = {
  'call-id': 'Call-ID',
  cseq: 'CSeq',
  'www-authenticate': 'WWW-Authenticate',
}

function wireName(name: string): string {
  return unusualNames[name] ?? name.replace(/(^|-)([a-z])/g, (letters) => letters.toUpperCase())
}
