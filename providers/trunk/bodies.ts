/**
 * Finds the SDP in a message body: the whole body, or one part of it (multipart, RFC 5621). Carriers add other parts:
 * the caller's location (PIDF-LO), network messages (ISUP). Such parts are ignored unless the sender marks them as
 * required.
 */
import { type Header, headersOf, linesOf, valueOf } from './message.ts'

/** The result if the sender requires a body part in an unsupported format. */
export const unsupported = Symbol('unsupported')
/** The SDP. Null if the body has no SDP, as in an INVITE without an offer. */
type SdpResult = string | null | typeof unsupported

type Part = { headers: readonly Header[]; body: string }

/** The supported body types, as an Accept header for refusals. */
export const acceptedBodies: Header = ['accept', 'application/sdp, multipart/mixed']
const depthMax = 4
const partsMax = 16

export function sdpIn({ headers, body }: Part): SdpResult {
  if (body === '') return null
  return sdpInPart({ headers, body }, 'required', depthMax)
}

/** Returns the part's SDP. `otherwise` states if a part without a handling parameter is required or optional. */
function sdpInPart(part: Part, otherwise: 'required' | 'optional', depth: number): SdpResult {
  const type = (valueOf(part.headers, 'content-type') ?? '').toLowerCase()
  const [, kind] = /^multipart\/([\w.+-]+)/.exec(type) ?? []
  if (kind !== undefined && depth > 0) return ofParts(part, kind, depth)
  if (/^application\/sdp\b/.test(type) && isSession(part)) return textOf(part)
  return handlingOf(part, otherwise) === 'required' ? unsupported : null
}

/**
 * Returns the SDP from a multipart body. All parts in a `multipart/alternative` describe the same call, and the last
 * part is the best (RFC 2046, section 5.1.4). By RFC 3261, section 20.11, a part without a handling parameter is
 * required. Here it is optional, because senders often leave the parameter out for parts not needed.
 */
function ofParts(part: Part, kind: string, depth: number): SdpResult {
  const parts = partsOf(part)
  const results = parts.map((each) => sdpInPart(each, 'optional', depth - 1))
  const described = results.filter((each) => each !== null && each !== unsupported)
  if (kind === 'alternative' && described.length > 0) return described.at(-1) ?? null
  return results.includes(unsupported) ? unsupported : (described[0] ?? null)
}

/**
 * Splits the body at its boundary lines (RFC 2046, section 5.1.1). Text before the first and after the last boundary is
 * ignored.
 */
function partsOf({ headers, body }: Part): Part[] {
  const type = valueOf(headers, 'content-type') ?? ''
  const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) return []
  const pieces: string[][] = []
  for (const line of body.split(/\r?\n/)) {
    const end = line.trimEnd()
    if (end === `--${boundary}--`) break
    if (end === `--${boundary}`) pieces.push([])
    else pieces.at(-1)?.push(line)
  }
  return pieces.slice(0, partsMax).map(partOf)
}

function partOf(lines: readonly string[]): Part {
  const blank = lines.indexOf('')
  const head = blank < 0 ? [] : lines.slice(0, blank)
  return { headers: headersOf(linesOf(head.join('\r\n'))) ?? [], body: lines.slice(blank + 1).join('\r\n') }
}

/** False for an `early-session` (RFC 3959), because its SDP describes only the audio before the call is answered. */
function isSession({ headers }: Part): boolean {
  return !/^early-session\b/i.test(valueOf(headers, 'content-disposition') ?? '')
}

function handlingOf({ headers }: Part, otherwise: 'required' | 'optional'): 'required' | 'optional' {
  const [, handling] =
    /;\s*handling\s*=\s*"?(required|optional)\b/i.exec(valueOf(headers, 'content-disposition') ?? '') ?? []
  return handling === undefined ? otherwise : handling.toLowerCase() === 'required' ? 'required' : 'optional'
}

function textOf({ headers, body }: Part): string {
  const isBase64 = /^base64$/i.test(valueOf(headers, 'content-transfer-encoding') ?? '')
  return isBase64 ? Buffer.from(body, 'base64').toString() : body
}
