/** Reads an answer's body within limits for time and size, and names the reason if the body is not complete. */
import { ConnectionError, ParleyError, ProtocolError, RequestTimeoutError } from './client-api-error.ts'

const jsonBytesMax = 64 * 1024 * 1024
const errorBytesMax = 1024 * 1024
/** After this time Node's fetch ends a request, unless the program passes another fetch. */
const nodeTimeoutMs = 300_000

/** Returns an answer's text. `signal` is the caller's cancel signal. */
export async function readText({ body }: Response, signal: AbortSignal | undefined, bytesMax = jsonBytesMax) {
  const decoder = new TextDecoder()
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader()
  let [text, bytes] = ['', 0]
  try {
    for (let chunk = await reader?.read(); chunk?.value; chunk = await reader?.read()) {
      bytes += chunk.value.length
      if (bytes > bytesMax) throw new ProtocolError(`The answer is longer than ${bytesMax} bytes.`)
      text += decoder.decode(chunk.value, { stream: true })
    }
  } catch (error) {
    reader?.cancel().catch(() => undefined)
    throw lost(error, signal)
  }
  return text + decoder.decode()
}

/** Returns an answer's JSON. */
export async function readJson(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  const text = await readText(response, signal)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ProtocolError('The answer is not JSON.', { cause: error })
  }
}

/** Returns an error's JSON, or null if the body is not JSON or too long. */
export async function readErrorJson(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return JSON.parse(await readText(response, signal, errorBytesMax))
  } catch (error) {
    if (signal?.aborted === true || error instanceof RequestTimeoutError) throw error
    return null
  }
}

/** Limits the time for each read. The time between two reads depends on the caller, so it has no limit. */
export function withReadLimit(
  body: ReadableStream<Uint8Array> | null,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> | null {
  if (body === null) return null
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await read(reader, timeoutMs, signal)
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Without a buffer, the stream is read only while the caller waits for data.
    { highWaterMark: 0 },
  )
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
) {
  let timer
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new RequestTimeoutError(timeoutMs)), timeoutMs)
  })
  try {
    return await Promise.race([reader.read(), late])
  } catch (error) {
    reader.cancel().catch(() => undefined)
    throw lost(error, signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the error for a request whose fetch failed. The caller's reason stays unchanged. */
export function unanswered(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true || !(error instanceof TypeError)) return error
  if (isNodeTimeout(error.cause)) return new RequestTimeoutError(nodeTimeoutMs, { cause: error })
  return new ConnectionError('There is no answer: the connection failed.', {
    cause: error,
    wasSent: !isNeverMade(error.cause),
  })
}

function lost(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true || error instanceof ParleyError) return error
  const { cause } = (error ?? {}) as { cause?: unknown }
  if (isNodeTimeout(cause)) return new RequestTimeoutError(nodeTimeoutMs, { cause: error })
  return new ConnectionError('The connection was lost before the end of the answer.', { cause: error })
}

/** Node's codes before a connection exists. Browsers do not tell why a request failed. */
const connectCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
])
/** The codes if a certificate is not trusted. */
const certificateCode = /^(CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_/

/**
 * True if the connection was never made. Codes such as EHOSTUNREACH also end open connections, so the system call
 * decides. If a host has several addresses, there is an error for each.
 */
function isNeverMade(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.length > 0 && cause.errors.every(isNeverMade)
  const { syscall, code } = fieldsOf(cause)
  return syscall === 'connect' || connectCodes.has(code) || certificateCode.test(code)
}

const isNodeTimeout = (cause: unknown) => /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(fieldsOf(cause).code)

function fieldsOf(cause: unknown): { syscall: string; code: string } {
  const { syscall, code } = (cause ?? {}) as { syscall?: unknown; code?: unknown }
  return { syscall: String(syscall), code: String(code) }
}
