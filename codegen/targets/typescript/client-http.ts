/**
 * All generated clients share this module. It makes a request from a client's table row and a call's arguments, and a
 * typed value from the answer. It needs only fetch.
 */
import { readErrorJson, readJson, readText, unanswered, withReadLimit } from './client-answers.ts'
import { ProtocolError, RequestTimeoutError } from './client-api-error.ts'
import type { Answer, Call, ClientOptions, Context, ErrorFactory, OperationRow } from './client-call.ts'
import { type EventSource, leavable, leave, readData, readEvents } from './client-events.ts'
import { address, answersOf, hasKey, requestBody, requestHeaders } from './client-request.ts'
import { readResumed } from './client-resume.ts'
import { pause, pauseBefore } from './client-retries.ts'

type Method = (call?: Call) => Promise<Answer<string, unknown>>

const timeoutMsDefault = 300_000
const retriesMaxDefault = 2

export function createClient(
  rows: Readonly<Record<string, OperationRow>>,
  options: ClientOptions,
  toError: ErrorFactory,
  prefix = '',
): Record<string, Method> {
  const client = { options, toError, prefix }
  return Object.fromEntries(
    Object.entries(rows).map(([id, row]) => [id, (call: Call = {}) => perform({ row, call, ...client }, readAnswer)]),
  )
}

/** Each attempt has a new Idempotency-Key. If the caller chose the key, there is only one attempt. */
async function perform<Result>(
  context: Context,
  read: (context: Context, response: Response) => Result | Promise<Result>,
): Promise<Result> {
  const { row, call, options } = context
  const isRepeatable = !hasKey(call) && !(call.body instanceof ReadableStream)
  const retriesMax = isRepeatable ? (options.retriesMax ?? retriesMaxDefault) : 0
  for (let retry = 0; ; retry++) {
    try {
      return await attempt(context, read)
    } catch (error) {
      const pauseMs = retry < retriesMax ? pauseBefore(retry, error, row.method) : null
      if (pauseMs === null) throw error
      await pause(pauseMs, call.signal)
    }
  }
}

async function attempt<Result>(
  context: Context,
  read: (context: Context, response: Response) => Result | Promise<Result>,
): Promise<Result> {
  const { row, call, toError } = context
  const deadline = startDeadline(timeoutMsOf(context))
  const signal = call.signal ? AbortSignal.any([call.signal, deadline.signal]) : deadline.signal
  const request: RequestInit = {
    method: row.method,
    headers: requestHeaders(context),
    ...requestBody(row, call.body),
    signal,
    // A redirect would carry the key to another server, and can turn a POST into a GET.
    redirect: 'manual',
  }
  try {
    const response = await answerTo(address(context), request, context)
    const { status, headers } = response
    if (!response.ok) throw toError(status, headers, await readErrorJson(response, call.signal))
    return await readOrLeave(context, response, read)
  } finally {
    deadline.clear()
  }
}

async function readOrLeave<Result>(
  context: Context,
  response: Response,
  read: (context: Context, response: Response) => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await read(context, response)
  } catch (error) {
    await leave(response.body)
    throw error
  }
}

async function answerTo(url: string, request: RequestInit, { call, options }: Context): Promise<Response> {
  const send = options.fetch ?? globalThis.fetch
  try {
    return await send(url, request)
  } catch (error) {
    throw unanswered(error, call.signal)
  }
}

const timeoutMsOf = ({ call, options }: Context) => call.timeoutMs ?? options.timeoutMs ?? timeoutMsDefault

async function readAnswer(context: Context, response: Response): Promise<Answer<string, unknown>> {
  const { status, headers } = response
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return { status, type, headers, body: await answerBody(context, type, response) }
}

function startDeadline(timeoutMs: number): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new RequestTimeoutError(timeoutMs)), timeoutMs)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}

function answerBody(context: Context, type: string, response: Response): unknown {
  const { row, call, toError } = context
  const answers = answersOf(row)
  const kind = answers[type]
  const hasContent = Object.keys(answers).length > 0
  if (kind === undefined && type !== '' && hasContent)
    throw new ProtocolError(`The contract has no answer of the type ${type}.`)
  if (kind === 'json') return readJson(response, call.signal)
  if (kind === 'text') return readText(response, call.signal)
  const source = sourceOf(context, response)
  if (kind === 'data')
    return leavable(
      source,
      readData(source, (data) => toError(response.status, response.headers, data)),
    )
  if (kind !== 'events') return hasContent ? source.body : leave(source.body)
  const { eventIdentity: identity } = row
  return leavable(
    source,
    identity === undefined ? readEvents(source) : readResumed(source, { identity, open: reopen(context) }),
  )
}

function sourceOf(context: Context, response: Response): EventSource {
  const { row, call } = context
  const body = withReadLimit(response.body, timeoutMsOf(context), call.signal)
  return { body, terminalEvents: row.terminalEvents ?? [], signal: call.signal }
}

/** Each attempt to open a stream again is one request. */
const reopen = (context: Context) => (id: string) =>
  perform(
    { ...context, options: { ...context.options, retriesMax: 0 }, call: resumedAfter(context.call, id) },
    sourceOf,
  )

/** The server ignores the header if there is a cursor. */
function resumedAfter(call: Call, id: string): Call {
  return {
    ...call,
    query: { ...call.query, cursor: undefined },
    header: { ...call.header, 'last-event-id': id },
  }
}
