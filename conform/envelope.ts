/**
 * Reads error bodies (envelopes). The router API and the OpenAI-compatible API have another format than the platform
 * API.
 */
import type { Received } from './http.ts'

export type Envelope = {
  code: string | null
  type?: string
  retryable?: boolean
  requestId?: string
  /** JSON pointers to the faulty values, or their names. */
  places: readonly string[]
}

type Nested = { code?: unknown; type?: unknown; retryable?: unknown; request_id?: unknown; param?: unknown }
type Flat = { error?: unknown; code?: unknown; requestId?: unknown; issues?: { path?: unknown }[] }

/** Returns the fields of an error body. Null if the body is not an error body. */
export function envelopeOf({ body }: Pick<Received, 'body'>): Envelope | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString())
  } catch {
    return null
  }
  if (typeof parsed !== 'object' || parsed === null) return null
  const { error } = parsed as { error?: unknown }
  if (typeof error === 'object' && error !== null) return nested(error)
  return typeof error === 'string' ? flat(parsed) : null
}

function nested({ code, type, retryable, request_id: requestId, param }: Nested): Envelope {
  return {
    code: typeof code === 'string' ? code : null,
    ...(typeof type === 'string' && { type }),
    ...(typeof retryable === 'boolean' && { retryable }),
    ...(typeof requestId === 'string' && { requestId }),
    places: typeof param === 'string' ? [param] : [],
  }
}

function flat({ code, requestId, issues = [] }: Flat): Envelope {
  return {
    code: typeof code === 'string' ? code : null,
    ...(typeof requestId === 'string' && { requestId }),
    places: issues.flatMap(({ path }) => (typeof path === 'string' ? [path] : [])),
  }
}
