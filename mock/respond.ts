/**
 * Answers a request: finds the operation, requires a key, reads the header Prefer, checks the request, takes an
 * example.
 */
import type { IncomingMessage } from 'node:http'
import { type Answer, answerOf, ownOf, successOf } from './answer.ts'
import { UnsupportedFormat } from './audio.ts'
import { BodyTooLarge } from './body.ts'
import { checkRequest, type Problem, UnsupportedMedia } from './check-request.ts'
import { type Operation, operationsOf, type Surface } from './documents.ts'
import { invalidBody, unknownMethod, unknownPath } from './faults.ts'
import { appliedHeader, type Preferences, readPreferences } from './preferences.ts'
import { partOf } from './range.ts'

const anything = { body: undefined, accept: '', example: null }

export async function respondTo(surfaces: readonly Surface[], request: IncomingMessage): Promise<Answer> {
  const url = urlOf(request)
  // HEAD has the same answer as GET, and node:http leaves the body out.
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET')
  for (const surface of surfaces) {
    const found = surface.backend.matchOperation({ method, path: url.pathname, headers: {} })
    if (found !== undefined) return respondAs(surface, found as unknown as Operation, request, url)
  }
  const allow = methodsAt(surfaces, url.pathname)
  return allow.length === 0 ? unknownPath(url.pathname) : unknownMethod(allow.join(', '))
}

/** Returns the request's path and query. An invalid URL counts as the root path. */
export function urlOf({ url = '/' }: IncomingMessage): URL {
  try {
    decodeURIComponent(url)
    return new URL(`http://mock${url}`)
  } catch {
    return new URL('http://mock/')
  }
}

/** Returns true if the request has any bearer key. */
export function hasKey({ headers }: IncomingMessage): boolean {
  return /^Bearer \S/i.test(headers.authorization ?? '')
}

async function respondAs(surface: Surface, operation: Operation, request: IncomingMessage, url: URL): Promise<Answer> {
  const declared = (status: string) => answerOf(surface, operation, status, anything)
  const refuse = (problems: Problem[]) => refused(surface, operation, problems)
  if (operation.security.length > 0 && !hasKey(request)) return declared('401') ?? unknownPath(url.pathname)
  const preferences = readPreferences(request.headers['prefer'])
  const { status, example } = preferences
  if (status !== null && ownOf(operation.responses, status) === undefined)
    return refuse([notDeclared(operation, status)])
  const selection = { ...anything, accept: request.headers.accept ?? '*/*', example }
  const answerWith = (body: unknown) => {
    const answer = answerOf(surface, operation, status ?? successOf(operation), { ...selection, body })
    if (answer === null) return refuse([{ path: 'Prefer', message: `there is no example ${example}`, keyword: 'enum' }])
    return { ...answer, headers: { ...answer.headers, ...appliedHeader(preferences) } }
  }
  // The client asks for the error, so the request need not be valid.
  if (Number(status) >= 400) return answerWith(undefined)
  try {
    const { problems, body } = await checkRequest(surface, operation, request, url)
    if (problems.length > 0 && operation.responses['400'] !== undefined) return refuse(problems)
    return inRange(operation, preferences, request, answerWith(body), declared)
  } catch (error) {
    if (error instanceof BodyTooLarge) return declared('413') ?? refuse([problemOf(error)])
    if (error instanceof UnsupportedMedia) return declared('415') ?? refuse([problemOf(error)])
    if (error instanceof UnsupportedFormat) return refuse([problemOf(error)])
    throw error
  }
}

const problemOf = ({ message }: Error): Problem => ({ path: '', message, keyword: 'type' })

function notDeclared({ responses, operationId }: Operation, status: string): Problem {
  const message = `${operationId} declares no answer ${status}, only ${Object.keys(responses).join(', ')}`
  return { path: 'Prefer', message, keyword: 'enum' }
}

/** Makes a 400 response with the contract's headers. The body lists the problems. */
function refused(surface: Surface, operation: Operation, problems: Problem[]): Answer {
  const body = invalidBody(surface.name, problems)
  const answer = answerOf(surface, operation, '400', anything)
  return answer === null ? { status: 400, headers: { 'Content-Type': 'application/json' }, body } : { ...answer, body }
}

/** If the contract declares partial answers, a request with Range gets a part. */
function inRange(
  operation: Operation,
  { status }: Preferences,
  { headers }: IncomingMessage,
  answer: Answer,
  declared: (status: string) => Answer | null,
): Answer {
  const partial = operation.responses['206'] === undefined || answer.status >= 300 ? null : declared('206')
  const isOther = headers['if-range'] !== undefined && headers['if-range'] !== answer.headers['ETag']
  const range = isOther ? undefined : (headers.range ?? (status === '206' ? firstBytes : undefined))
  if (partial === null || range === undefined) return answer
  const part = partOf(answer, partial, range)
  const size = answer.body instanceof Uint8Array ? answer.body.length : 0
  if (part !== null) return part
  const refusal = declared('416') ?? answer
  return { ...refusal, headers: { ...refusal.headers, 'Content-Range': `bytes */${size}` } }
}

/** The range in the contract's example for Content-Range. */
const firstBytes = 'bytes=0-1023'

function methodsAt(surfaces: readonly Surface[], path: string): string[] {
  const methods = surfaces.flatMap(operationsOf).map(({ method }) => method)
  const isTaken = (method: string) =>
    surfaces.some(({ backend }) => backend.matchOperation({ method, path, headers: {} }) !== undefined)
  return [...new Set(methods)].filter(isTaken).map((method) => method.toUpperCase())
}
