/** Cartesia's authentication and errors, over HTTP and in socket frames. Cartesia defines no socket close codes. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import { classOfStatus } from '../wire/failures.ts'
import type { VendorWire } from '../wire/http.ts'
import { type JsonObject } from '../wire/json.ts'

/**
 * Every request names its API version. Since 2026-03-01 an error has a code; since 2026-08-14 a voice is given as its
 * id.
 */
const version = '2026-08-14'

export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', `Bearer ${apiKey}`, 'cartesia-version', version],
  classify: (_status, body) => classOfCode(body?.['error_code']),
}

/** Classifies a frame `{type: "error"}`. Its code may be null; its status is an HTTP status. */
export function classOfFrame({ error_code: code, status_code: status }: JsonObject): ErrorClass {
  const isStatus = typeof status === 'number' && status >= 400
  return classOfCode(code) ?? (isStatus ? classOfStatus(status) : 'server')
}

const classOfCode = (code: unknown): ErrorClass | null => (typeof code === 'string' ? (codes[code] ?? null) : null)

/** If a code has no entry here, the HTTP status decides the error class. */
const codes: Partial<Record<string, ErrorClass>> = {
  // The account has reached its plan's maximum for contexts or live streams.
  concurrency_limited: 'rate_limited',
  quota_exceeded: 'quota',
  plan_upgrade_required: 'quota',
}
