/**
 * Finds the number that forwarded a call to us. The sources are tried in order. The first source with a number other
 * than the dialled number, and without a privacy request, is used. In a header only the last forwarding's entry counts,
 * because earlier forwardings did not lead here.
 */
import type { ForwardingFields } from '../ports/phone-line.ts'

export const forwardingSources = [
  'forwarded_from',
  'original_to',
  'redirecting_number',
  'diversion',
  'history_info',
] as const
export type ForwardingSource = (typeof forwardingSources)[number]

export type Forwarding = { number: string; source: ForwardingSource }

/** Reads a number in any spelling. Returns null if it is not a number. */
type ReadNumber = (text: string) => string | null

export function forwardingOf(fields: ForwardingFields, dialed: string, e164: ReadNumber): Forwarding | null {
  const others = (entries: string[]) => entries.filter((text) => e164(userOf(text)) !== dialed)
  for (const [source, text] of sourcesOf(fields, others)) {
    const number = text === null || isPrivate(text) ? null : e164(userOf(text))
    if (number !== null && number !== dialed) return { number, source }
  }
  return null
}

/** Lists the sources with their header values, in order. `others` drops entries with the dialled number. */
function sourcesOf(
  fields: ForwardingFields,
  others: (entries: string[]) => string[],
): [ForwardingSource, string | null][] {
  const hasHistory = !fields.privacy.some(hidesHistory)
  return [
    ['forwarded_from', fields.forwardedFrom],
    ['original_to', fields.originalTo],
    ['redirecting_number', fields.redirectingNumber],
    ['diversion', others(entriesOf(fields.diversion)).at(0) ?? null],
    ['history_info', hasHistory ? (others(beforeOurs(entriesOf(fields.historyInfo), others)).at(-1) ?? null) : null],
  ]
}

/**
 * Returns the entries before the dialled number's last entry. Entries are in the order of the forwardings (RFC 7044).
 * Entries after the dialled number's entry were added by a telephone exchange on the way to us.
 */
function beforeOurs(entries: string[], others: (entries: string[]) => string[]): string[] {
  const ours = entries.findLastIndex((entry) => others([entry]).length === 0)
  return ours < 0 ? entries : entries.slice(0, ours)
}

/**
 * Splits header values at commas outside quotes and angle brackets. An unclosed quote or bracket extends to the end.
 * Otherwise the rest of the text would be searched again after each quote or bracket, and a hostile header would take
 * too long.
 */
function entriesOf(headers: readonly string[]): string[] {
  return headers
    .flatMap((header) => header.match(/(?:"(?:[^"\\]|\\[^])*(?:"|\\?$)|<[^>]*(?:>|$)|[^,"<])+/g) ?? [])
    .map((text) => text.trim())
    .filter((text) => text !== '')
}

function isPrivate(text: string): boolean {
  return /anonymous|\.invalid\b/i.test(text) || hidesDiversion(text) || hidesEntry(text)
}

/**
 * Returns true if a Diversion entry requests privacy (RFC 5806). `name` hides only the name. An unknown word may hide
 * everything.
 */
function hidesDiversion(text: string): boolean {
  const word = /;\s*privacy\s*=\s*"?([^\s;,">]*)/i.exec(text)?.[1]?.toLowerCase()
  return word !== undefined && word !== 'off' && word !== 'name'
}

/**
 * Returns true if a History-Info entry requests privacy. Its SIP URI may contain an escaped Privacy header (RFC 7044).
 */
function hidesEntry(text: string): boolean {
  const words = /[?&]privacy=([^&>]*)/i.exec(text)?.[1]
  return words !== undefined && decoded(words).trim().toLowerCase() !== 'none'
}

/**
 * Returns true if a Privacy header hides all History-Info entries (RFC 7044). The value `id` concerns only the caller.
 */
const hidesHistory = (privacy: string) =>
  privacy.split(/[;,]/).some((word) => ['history', 'session', 'header'].includes(word.trim().toLowerCase()))

/** Returns the user part of a SIP or tel address. A text without such an address is returned unchanged. */
function userOf(text: string): string {
  const unnamed = text.replace(/"(?:[^"\\]|\\[^])*(?:"|\\?$)/g, '')
  const address = /<([^<>]*)>/.exec(unnamed)?.[1] ?? unnamed
  const user = /^(?:sips?|tel):([^@;:>]*)/i.exec(address.trim())?.[1] ?? address
  return decoded(user).trim()
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
