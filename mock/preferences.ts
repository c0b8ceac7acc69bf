/**
 * The header Prefer (RFC 7240), with the same names as in Prism's mock server: `code` or `status` selects the answer's
 * status, `example` the answer's example. `error` selects a socket's error. Other preferences are ignored, as the RFC
 * asks.
 */
import { type Dictionary, parseDictionary, Token } from 'structured-headers'

/** The client's preferences. A field is null if the client has no such preference. */
export type Preferences = { status: string | null; example: string | null; error: string | null }

/** Reads the header. An unreadable header is ignored. */
export function readPreferences(header: string | string[] | undefined): Preferences {
  const members = parse([header ?? ''].flat().join(', '))
  const valueOf = (name: string) => textOf(members.get(name)?.[0])
  return { status: valueOf('code') ?? valueOf('status'), example: valueOf('example'), error: valueOf('error') }
}

/** Returns the header Preference-Applied for an answer with these preferences. */
export function appliedHeader({ status, example }: Preferences): Record<string, string> {
  const applied = [status !== null && `code=${status}`, example !== null && `example=${example}`].filter(Boolean)
  return applied.length === 0 ? {} : { 'Preference-Applied': applied.join(', ') }
}

function parse(text: string): Dictionary {
  try {
    return parseDictionary(text)
  } catch {
    return new Map()
  }
}

function textOf(value: unknown): string | null {
  if (value instanceof Token) return value.toString()
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null
}
