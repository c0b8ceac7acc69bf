/** Sends requests and keeps every answer's bytes. It follows no redirect and hides no header. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'

export type Sent = {
  method: string
  path: string
  headers: Readonly<Record<string, string>>
  body?: string | Buffer | undefined
  /** Ends the answer early, as a client that leaves. It is asked after each piece, with the text so far. */
  leaves?: ((text: string) => boolean) | undefined
}
export type Received = {
  status: number
  /** By lower-case name. Several fields with one name are joined by commas. */
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** The reason why the answer could not be read to its end. Null if it was. */
  broken: string | null
}

/** The server cannot be reached, so nothing can be checked. */
export class NoAnswer extends Error {}

/** How long one answer may take, in milliseconds. A recognizer that loads its models takes half a minute. */
const answerMsMax = 90_000
/** The largest answer that is read. */
const answerBytesMax = 64 * 1024 * 1024
/** How often a rate-limited request is sent again, and the longest wait before it. */
const triesMax = 5
const waitSMax = 90

export class Http {
  readonly url: string
  readonly #agent = new Agent()
  readonly #folder: string | null
  #count = 0

  /** `folder` gets one file for each request and answer, without the API keys. */
  constructor(url: string, folder: string | null) {
    this.url = url
    this.#folder = folder
  }

  /** Sends the request again while the server's rate limit refuses it. Throws NoAnswer if no server answers. */
  async send(sent: Sent): Promise<Received> {
    for (let tries = 1; ; tries++) {
      const received = await this.#once(sent)
      if (this.#folder !== null) await this.#record(this.#folder, sent, received)
      const waitS = Number(received.headers['retry-after'])
      const waits = received.status === 429 && waitS >= 0 && waitS <= waitSMax && tries < triesMax
      if (!waits) return received
      await sleep(waitS * 1000)
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  async #once({ method, path: target, headers, body, leaves }: Sent): Promise<Received> {
    const answer = await request(this.url + target, {
      method: method as 'GET',
      headers,
      ...(body !== undefined && { body }),
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(answerMsMax),
    }).catch((error: unknown) => {
      throw new NoAnswer(`${method} ${target} has no answer: ${(error as Error).message}`, { cause: error })
    })
    const pieces: Buffer[] = []
    let broken: string | null = null
    let bytes = 0
    try {
      for await (const piece of answer.body as AsyncIterable<Buffer>) {
        pieces.push(piece)
        bytes += piece.length
        if (bytes > answerBytesMax) throw new Error(`the answer is longer than ${answerBytesMax} bytes`)
        if (leaves?.(Buffer.concat(pieces).toString())) break
      }
    } catch (error) {
      broken = (error as Error).message
    }
    return { status: answer.statusCode, headers: joined(answer.headers), body: Buffer.concat(pieces), broken }
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

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))
}

/** Returns text as text, and other bytes as their number. */
function textOf(body: string | Buffer | undefined): string {
  if (body === undefined || typeof body === 'string') return body ?? ''
  const text = body.toString()
  return text.includes('\uFFFD') ? `(${body.length} bytes)` : text
}
