/** Makes the error bodies for faulty requests, in the format of each API. */
import { errorCodes as platformCodes } from '../generated/platform/errors.ts'
import { errorCodes as routerCodes } from '../generated/router/errors.ts'
import { docUrl } from '../runtime/http/doc-url.ts'
import type { Answer } from './answer.ts'
import type { Problem } from './check-request.ts'
import type { Surface } from './documents.ts'

/** The request id in all examples. */
const requestId = 'req_V1StGXR8Z5jdHi6BmyTqK'

/** Makes the body of a 400 response. */
export function invalidBody(surface: Surface['name'], problems: readonly Problem[]): string {
  const [first = { path: '', message: 'the request is not valid', keyword: '' }] = problems
  if (surface !== 'platform') return routerBody('invalid_parameter', first.message, first.path)
  const { hint } = platformCodes.VALIDATION_ERROR
  const code = 'VALIDATION_ERROR'
  const error = `${first.message}. ${hint}`
  return JSON.stringify({ error, code, issues: problems, requestId, doc_url: docUrl('platform', code) })
}

export function unknownPath(path: string): Answer {
  return routerAnswer('not_found', `There is nothing at ${path}.`, {})
}

export function unknownMethod(allow: string): Answer {
  return routerAnswer('method_not_allowed', `This path takes ${allow}`, { Allow: allow })
}

type RouterCode = keyof typeof routerCodes

function routerAnswer(code: RouterCode, message: string, more: Record<string, string>): Answer {
  const headers = {
    ...{ 'Service-Request-ID': requestId, 'x-request-id': requestId, 'Service-Region': 'local' },
    ...{ 'Content-Type': 'application/json', ...more },
  }
  return { status: routerCodes[code].status ?? 500, headers, body: routerBody(code, message, '') }
}

function routerBody(code: RouterCode, message: string, param: string): string {
  const { hint, retryable, type } = routerCodes[code]
  const more = { doc_url: docUrl('router', code), ...(param !== '' && { param }) }
  return JSON.stringify({ error: { code, message, hint, retryable, request_id: requestId, type, ...more } })
}
