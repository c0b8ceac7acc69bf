/**
 * Finds the number from which a call was forwarded: the first source that names one other than the dialled number, and
 * does not ask for privacy. A header counts with one entry alone, that of the last forwarding: an older one did not
 * forward the call to us.
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

/** A number as it came. Null: it is not one. */
type ReadNumber = (text: string) => string | null

export function forwardingOf(fields: ForwardingFields, dialed: string, e164: ReadNumber): Forwarding | null {
  const others = (entries: string[]) => entries.filter((text) => e164(userOf(text)) !== dialed)
  for (const [source, text] of sourcesOf(fields, others)) {
    const number = text === null || isPrivate(text) ? null : e164(userOf(text))
    if (number !== null && number !== dialed) return { number, source }
  }
  return null
}

/** `others` leaves out the entries of the dialled number itself. */
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
 * RFC 7044: the entries are in the order in which the call was forwarded. Entries after the last entry of the dialled
 * number were added later, by an exchange that sent the call on.
 */
function beforeOurs(entries: string[], others: (entries: string[]) => string[]): string[] {
  const ours = entries.findLastIndex((entry) => others([entry]).length === 0)
  return ours < 0 ? entries : entries.slice(0, ours)
}

/**
 * A header may have several values, separated by commas outside of quotes and angle brackets. Those that are never closed
 * go on to the end: the text behind each of them would otherwise be searched again.
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

/** RFC 5806: `name` hides the name alone. A word that is not known may hide everything. */
function hidesDiversion(text: string): boolean {
  const word = /;\s*privacy\s*=\s*"?([^\s;,">]*)/i.exec(text)?.[1]?.toLowerCase()
  return word !== undefined && word !== 'off' && word !== 'name'
}

/** RFC 7044: the address of an entry has its header Privacy in it, escaped. */
function hidesEntry(text: string): boolean {
  const words = /[?&]privacy=([^&>]*)/i.exec(text)?.[1]
  return words !== undefined && decoded(words).trim().toLowerCase() !== 'none'
}

/** RFC 7044: these words of the header Privacy of a request are about all entries of History-Info; `id` is about the caller. */
const hidesHistory = (privacy: string) =>
  privacy.split(/[;,]/).some((word) => ['history', 'session', 'header'].includes(word.trim().toLowerCase()))

/** The user of a SIP or tel address, or the text itself. */
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
