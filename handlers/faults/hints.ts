import { type ErrorCode, errorCodes } from '../../generated/router/errors.ts'

/** The properties of one API, for its error hints. */
export type HintSurface = {
  /** The path at which the API serves its contract. */
  contract: string
  /** The document with descriptions of the request fields, if the contract at `contract` has no descriptions. */
  fieldsDocument?: string
  /** True if the API's requests have an Idempotency-Key. */
  hasIdempotencyKeys: boolean
}

/**
 * Returns the hint for each code, used if the fault has no hint. Codes not listed here have the same hint on every API.
 */
export function hintsOf(surface: HintSurface): Readonly<Record<ErrorCode, string>> {
  const again = `again${withNewKey(surface)}`
  const { contract } = surface
  const fieldsIn = surface.fieldsDocument ?? `the contract at ${contract}`
  const own: Partial<Record<ErrorCode, string>> = {
    invalid_parameter: `Correct what param points at; ${fieldsIn} lists the fields and bounds.`,
    not_found: `Check the path against the contract at ${contract}; paths are case-sensitive and take no trailing slash.`,
    provider_error: `Send the request ${again}; attempts says what each provider did.`,
    request_timeout: `Send it ${again}, or ask for less; attempts says where the time went.`,
    relay_error: `Send the request ${again}; if it fails again, report the request id.`,
    budget_exhausted: `Add credit, then send the request ${again}.`,
  }
  const hints = Object.entries(errorCodes).map(([code, { hint }]) => [code, own[code as ErrorCode] ?? hint])
  return Object.fromEntries(hints) as Record<ErrorCode, string>
}

/** Returns the hint for a plain HTTP request to a WebSocket's URL. */
export function socketHint({ contract }: HintSurface): string {
  return `Open a WebSocket here; the contract at ${contract} says what goes through it.`
}

export function withNewKey({ hasIdempotencyKeys }: HintSurface): string {
  return hasIdempotencyKeys ? ' with a new Idempotency-Key' : ''
}
