/**
 * Refuses unreadable requests, if their headers contain an address for a response (RFC 3261, section 8.2). The response
 * is never longer than the request. Otherwise a forged source address could be used for an amplification attack.
 */
import { answersTo, type Peer, viaOf } from './address.ts'
import { bodyBytesMax, type Header, headBytesMax, headersMax, headersOf, linesOf, valueOf } from './message.ts'
import { writeAnswer } from './server-transaction.ts'

/** The headers to copy into the response. Without them the sender cannot match the response to its request. */
const required = ['via', 'from', 'to', 'call-id', 'cseq']

/**
 * Returns the response. Returns null if the bytes are not a request, or if the response would be longer than the
 * request.
 */
export function answerToUnreadable(bytes: Buffer, source: Peer): { answer: Buffer; to: Peer } | null {
  const end = bytes.indexOf('\r\n\r\n')
  const isHeadLong = end > headBytesMax || (end < 0 && bytes.length > headBytesMax)
  if (end < 0 && !isHeadLong) return null
  const lines = linesOf(bytes.toString('utf8', 0, isHeadLong ? headBytesMax : end))
  const [, method] = /^([A-Z]{1,32}) \S+ SIP\/2\.0$/.exec(lines.shift() ?? '') ?? []
  // An ACK is never answered.
  if (method === undefined || method === 'ACK') return null
  const headers = lines.flatMap((line) => headersOf([line]) ?? [])
  if (!required.every((name) => valueOf(headers, name))) return null
  const code = isHeadLong ? 513 : codeOf(headers, lines.length, bytes.length - end - 4)
  const answer = writeAnswer({ headers, source, code, toTag: 'none' })
  const via = viaOf(usualTransport(valueOf(headers, 'via') ?? ''))
  return via === null || answer.length > bytes.length ? null : { answer, to: answersTo(via, source) }
}

/** Replaces an unknown transport in Via. The request arrived over UDP or TCP in any case, so a response can be sent. */
const usualTransport = (via: string) => via.replace(/^(SIP[ \t]*\/[ \t]*2\.0[ \t]*\/[ \t]*)[A-Z0-9-]+/i, '$1UDP')

function codeOf(headers: readonly Header[], lines: number, bodyBytes: number): number {
  if (lines > headersMax) return valueOf(headers, 'require') === null ? 513 : 420
  const length = Number(valueOf(headers, 'content-length') ?? bodyBytes)
  return length > bodyBytesMax ? 413 : 400
}
