/** OpenAI's error bodies for refusals, over HTTP and in events. */
import type { ServerResponse } from 'node:http'
import type { Cell, SeenRequest } from '../suite/matrix.ts'
import { type Refusal, refusals, sendJson } from '../suite/stub-server.ts'

type Words = { type: string; code: string | null; status?: number }

const words: Partial<Record<Cell, Words>> = {
  auth: { type: 'invalid_request_error', code: 'invalid_api_key' },
  // OpenAI answers 429 without credit, and not 402.
  quota: { type: 'insufficient_quota', code: 'insufficient_quota', status: 429 },
  rate_limited: { type: 'requests', code: 'rate_limit_exceeded' },
  rate_limited_bare: { type: 'requests', code: 'rate_limit_exceeded' },
  overloaded: { type: 'service_unavailable_error', code: 'server_is_overloaded' },
  server: { type: 'server_error', code: null },
  bad_request: { type: 'invalid_request_error', code: 'invalid_value' },
}

/** The message contains the key, so an error that repeats the message fails the suite. */
const errorOf = ({ type, code }: Words, request: SeenRequest) => ({
  message: `the vendor says no to ${request.headers['authorization']}`,
  type,
  param: null,
  code,
})

/** The error body for an overload that comes in the middle of a good answer. */
export const overloaded = (request: SeenRequest) =>
  errorOf({ type: 'service_unavailable_error', code: 'server_is_overloaded' }, request)

export function refusalOf(request: SeenRequest, cell: Cell): Refusal | null {
  const said = words[cell]
  const refusal = refusals[cell]
  if (!said || !refusal) return null
  return { ...refusal, status: said.status ?? refusal.status, body: { error: errorOf(said, request) } }
}

/** Returns true if it has refused the request. */
export function refuse(request: SeenRequest, response: ServerResponse, cell: Cell): boolean {
  const refusal = refusalOf(request, cell)
  if (refusal) sendJson(response, refusal.body, refusal)
  return refusal !== null
}

export const bodyOf = (request: SeenRequest) => JSON.parse(request.body.toString()) as Record<string, unknown>
