/** Sends requests and keeps every answer's bytes. It follows no redirect and hides no header. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { RunEnded, reasonOf, signalAfter, Unanswered } from './limits.ts'

export type Sent = {
  method: string
  path: string
  headers: Readonly<Record<string, string>>
  body?: string | Buffer | undefined
  /**
   * Called after each chunk with the text so far. If it returns true, reading ends, as if the client had disconnected.
   */
  leaves?: ((text: string) => boolean) | undefined
}
export type Received = {
  status: number
  /** By lower-case name. Several fields with one name are joined by commas. */
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** The reason why the answer could not be read to its end. Null if it was read whole. */
  broken: string | null
}

/** The largest answer that is read. */
const answerBytesMax = 64 * 1024 * 1024
/** How often a rate-limited request is sent again, and the longest wait before it. */
const triesMax = 5
const waitSMax = 90

/**
 * Servers close idle connections, most after 5 s. The client closes them earlier, so it sends no request on a
 * connection that the server is closing.
 */
const idleMsMax = 1000
/** Requests that change nothing, and the errors when a connection is cut. */
const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS'])
const cutCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

export class Http {
  readonly url: string
  readonly #agent = new Agent({ keepAliveTimeout: idleMsMax, keepAliveMaxTimeout: idleMsMax })
  readonly #folder: string | null
  readonly #answerMs: number
  #ended: AbortSignal
  #check: AbortSignal | null = null
  #count = 0

  /**
   * `folder` gets one file for each request and answer, without the API keys. After `ended` no request is sent, and
   * waits end.
   */
  constructor(url: string, folder: string | null, { answerMs, ended }: { answerMs: number; ended: AbortSignal }) {
    this.url = url
    this.#folder = folder
    this.#answerMs = answerMs
    this.#ended = ended
  }

  /** The end of the run. Sockets end with it. */
  get ended(): AbortSignal {
    return this.#ended
  }

  /**
   * Sends the request again while the server's rate limit refuses it. Throws Unanswered without an answer, and RunEnded
   * after the run's end.
   */
  async send(sent: Sent): Promise<Received> {
    for (let tries = 1; ; tries++) {
      const received = await this.#answerTo(sent)
      if (this.#folder !== null) await this.#record(this.#folder, sent, received)
      const waitS = Number(received.headers['retry-after'])
      const waits = received.status === 429 && waitS >= 0 && waitS <= waitSMax && tries < triesMax
      if (!waits) return received
      await this.pause(waitS * 1000)
    }
  }

  /** Waits. Throws Unanswered or RunEnded if the check or the run ends before. */
  async pause(ms: number): Promise<void> {
    const signal = this.#signalWith()
    await sleep(ms, undefined, { signal }).catch((error: unknown) => {
      throw this.#failure('the rate limit', signal, error)
    })
  }

  /** Runs a check's work within a time limit. After `ms` its requests and waits fail. */
  async within<Value>(ms: number, work: () => Promise<Value>): Promise<Value> {
    const { signal, clear } = signalAfter(ms, 'the check')
    this.#check = signal
    try {
      return await work()
    } finally {
      clear()
      this.#check = null
    }
  }

  /** Allows requests again after the run's end, to remove the run's resources until the next end. */
  reopen(ended: AbortSignal): void {
    this.#ended = ended
    this.#check = null
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  /**
   * On a busy machine the server can still close an idle connection just as a request is sent on it, so a reading
   * request is sent a second time.
   */
  async #answerTo(sent: Sent): Promise<Received> {
    try {
      return await this.#once(sent)
    } catch (error) {
      if (!(error instanceof Unanswered) || !readingMethods.has(sent.method)) throw error
      const { code = '' } = (error.cause ?? {}) as { code?: string }
      if (!cutCodes.has(code)) throw error
      return this.#once(sent)
    }
  }

  async #once({ method, path: target, headers, body, leaves }: Sent): Promise<Received> {
    const place = `${method} ${target.replace(/\?.*/, '')}`
    const { signal: late, clear } = signalAfter(this.#answerMs, 'it')
    const signal = this.#signalWith(late)
    try {
      const answer = await request(this.url + target, {
        method: method as 'GET',
        headers,
        ...(body !== undefined && { body }),
        dispatcher: this.#agent,
        signal,
      }).catch((error: unknown) => {
        throw this.#failure(place, signal, error)
      })
      const read = await readBody(answer.body as AsyncIterable<Buffer>, leaves)
      // If the run's end has cut off the body, checks on this body would be wrong.
      if (this.#ended.aborted) throw this.#failure(place, signal, null)
      const broken = read.broken !== null && signal.aborted ? reasonOf(signal) : read.broken
      return { status: answer.statusCode, headers: joined(answer.headers), body: read.body, broken }
    } finally {
      clear()
    }
  }

  #signalWith(...signals: AbortSignal[]): AbortSignal {
    return AbortSignal.any([this.#ended, ...(this.#check === null ? [] : [this.#check]), ...signals])
  }

  #failure(place: string, signal: AbortSignal, cause: unknown): Error {
    if (this.#ended.aborted) return new RunEnded(reasonOf(this.#ended), { cause })
    const reason = signal.aborted ? reasonOf(signal) : (cause as Error).message
    return new Unanswered(`${place} has no answer: ${reason}`, { cause })
  }

  async #record(folder: string, sent: Sent, received: Received): Promise<void> {
    await mkdir(folder, { recursive: true })
    this.#count += 1
    const { authorization, ...headers } = sent.headers
    const shown = authorization === undefined ? headers : { ...headers, authorization: 'Bearer …' }
    const exchange = {
      request: { method: sent.method, path: sent.path, headers: shown, body: textOf(sent.body) },
      response: { status: received.status, headers: received.headers, body: textOf(received.body) },
    }
    const name = `${String(this.#count).padStart(5, '0')}-${sent.method}-${received.status}.json`
    await writeFile(path.join(folder, name), `${JSON.stringify(exchange, null, 2)}\n`, { mode: 0o600 })
  }
}

/** Reads a body until its end, its largest length, or until the client leaves. */
async function readBody(stream: AsyncIterable<Buffer>, leaves: Sent['leaves']) {
  const pieces: Buffer[] = []
  let broken: string | null = null
  let bytes = 0
  let text = ''
  try {
    for await (const piece of stream) {
      pieces.push(piece)
      bytes += piece.length
      if (bytes > answerBytesMax) throw new Error(`the answer is longer than ${answerBytesMax} bytes`)
      if (leaves === undefined) continue
      text += piece.toString('latin1')
      if (leaves(text)) break
    }
  } catch (error) {
    broken = (error as Error).message
  }
  return { body: Buffer.concat(pieces), broken }
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))
}

/** Returns text unchanged, and only the byte count for other bytes. */
function textOf(body: string | Buffer | undefined): string {
  if (body === undefined || typeof body === 'string') return body ?? ''
  const text = body.toString()
  return text.includes('\uFFFD') ? `(${body.length} bytes)` : text
}
