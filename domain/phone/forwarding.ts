/** Finds the number from which a call was forwarded: the first source that names one other than the dialled number. */
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

/** `e164` reads a number as it came. Null: it is not one. */
export function forwardingOf(
  fields: ForwardingFields,
  dialed: string,
  e164: (text: string) => string | null,
): Forwarding | null {
  for (const [source, text] of sourcesOf(fields)) {
    const number = text === null || isAnonymous(text) ? null : e164(userOf(text))
    if (number !== null && number !== dialed) return { number, source }
  }
  return null
}

function sourcesOf(fields: ForwardingFields): [ForwardingSource, string | null][] {
  return [
    ['forwarded_from', fields.forwardedFrom],
    ['original_to', fields.originalTo],
    ['redirecting_number', fields.redirectingNumber],
    ...entriesOf(fields.diversion).map((text): [ForwardingSource, string] => ['diversion', text]),
    // The last entry is the dialled number itself, so the one before it is that of the forwarding.
    ...entriesOf(fields.historyInfo)
      .reverse()
      .map((text): [ForwardingSource, string] => ['history_info', text]),
  ]
}

/** A header may have several values, separated by commas outside of quotes and angle brackets. */
function entriesOf(headers: readonly string[]): string[] {
  return headers
    .flatMap((header) => header.match(/(?:"(?:[^"\\]|\\.)*"|<[^>]*>|[^,"<])+/g) ?? [])
    .map((text) => text.trim())
}

const isAnonymous = (text: string) => /anonymous|\bid\b.*privacy|invalid/i.test(text)

/** The user of a SIP or tel address, or the text itself. */
function userOf(text: string): string {
  const address = /<([^>]*)>/.exec(text)?.[1] ?? text
  const user = /^(?:sips?|tel):([^@;>]*)/i.exec(address.trim())?.[1] ?? address
  return decoded(user).trim()
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
