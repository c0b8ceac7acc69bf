/**
 * Reads DTMF keys from INFO requests (RFC 2976). No RFC defines the bodies. Phones and exchanges send these two types:
 *
 *   application/dtmf-relay   Signal=5 and Duration=160, each in a line; 10 to 15 are *, # and A to D
 *   application/dtmf         5
 *
 * Only the line with the key is read, because `Duration=160` contains digits and letters too.
 */
import { type Header, type SipRequest, valueOf } from './message.ts'

export const infoBodies: Header = ['accept', 'application/dtmf-relay, application/dtmf']

const keyNames = '0123456789*#ABCD'
const keysMax = 32

/**
 * Returns the keys in an INFO request. Ignores other signals, such as a hook flash. An empty body has no keys. Returns
 * null if the body has another type.
 */
export function keysIn({ headers, body }: SipRequest): string | null {
  const type = (valueOf(headers, 'content-type') ?? '').toLowerCase()
  if (body.trim() === '') return ''
  if (!/^application\/dtmf(?:-relay)?(?:$|[\s;])/.test(type)) return null
  const [, signal = null] = /^[ \t]*(?:signal|d)[ \t]*=[ \t]*"?([^\s"]*)/im.exec(body) ?? []
  if (signal !== null) return keyOf(signal)
  return /^application\/dtmf-relay/.test(type) ? '' : plainKeysIn(body)
}

/** Joins all lines with only keys in them. */
function plainKeysIn(body: string): string {
  const lines = body.split(/\r?\n/).map((line) => line.replace(/[ \t]/g, '').toUpperCase())
  return lines
    .filter((line) => /^[0-9*#A-D]*$/.test(line))
    .join('')
    .slice(0, keysMax)
}

function keyOf(signal: string): string {
  const name = /^1[0-5]$/.test(signal) ? keyNames[Number(signal)] : signal.toUpperCase()
  return name !== undefined && name.length === 1 && keyNames.includes(name) ? name : ''
}
