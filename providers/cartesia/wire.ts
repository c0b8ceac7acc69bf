/** How Cartesia signs and refuses: over HTTP, and in a frame of a socket. */
import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import { classOfStatus, excerpt } from '../wire/failures.ts'
import type { VendorWire } from '../wire/http.ts'
import { type JsonObject } from '../wire/json.ts'

/** Every request names the version that it was written for. Since 2026-03-01 a refusal has a code; since 2026-08-14 a voice is its id. */
const version = '2026-08-14'

export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', `Bearer ${apiKey}`, 'cartesia-version', version],
  classify: (_status, body) => classOfCode(body?.['error_code']),
}

/** What a frame `{type: "error"}` means. Its code may be null; its status is that of an answer over HTTP. */
export function classOfFrame({ error_code: code, status_code: status }: JsonObject): ErrorClass {
  const isStatus = typeof status === 'number' && status >= 400
  return classOfCode(code) ?? (isStatus ? classOfStatus(status) : 'server')
}

/** What the close of a socket means that was not done; null: that it was cut. */
export const classOfClose = (code: number): ErrorClass | null => closeCodes[code] ?? null

export function closedEarly(code: number, reason: string, apiKey: string | null): ProviderError {
  const cause = excerpt(`closed with ${code} ${reason}`, apiKey)
  return new ProviderError(classOfClose(code) ?? 'protocol', { sent: true, cause })
}

const classOfCode = (code: unknown): ErrorClass | null => (typeof code === 'string' ? (codes[code] ?? null) : null)

/** What is not here means what its status means. */
const codes: Partial<Record<string, ErrorClass>> = {
  // As many contexts are being spoken, or as many streams heard, as the plan allows.
  concurrency_limited: 'rate_limited',
  quota_exceeded: 'quota',
  plan_upgrade_required: 'quota',
}

/** RFC 6455 §7.4.1 and its registry: the vendor has no codes of its own. */
const closeCodes: Partial<Record<number, ErrorClass>> = { 1011: 'server', 1012: 'overloaded', 1013: 'overloaded' }
