/** The HTTP response of another server. */

/** The header lines as they arrived. They are searched, not parsed, because most are never read. */
export class AnswerHeaders {
  readonly #raw: readonly Buffer[]

  constructor(raw: readonly Buffer[]) {
    this.#raw = raw
  }

  /** Returns the first value for `name`, given in lower case. */
  get(name: string): string | undefined {
    const raw = this.#raw
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const key = raw[i] as Buffer
      if (key.length === name.length && key.toString('latin1').toLowerCase() === name)
        return raw[i + 1]?.toString('latin1')
    }
    return undefined
  }
}

export type CollectedAnswer = { status: number; headers: AnswerHeaders; body: Buffer }
export type StreamedAnswer = { status: number; headers: AnswerHeaders; body: AnswerStream }

/**
 * A streamed response body. It can be iterated once. Leaving the loop early closes the connection. `discard` keeps the
 * connection for the next request.
 */
export interface AnswerStream extends AsyncIterable<Uint8Array> {
  /** Reads and drops the rest, up to a limit. For use after the stream's last event. */
  discard(): void
}
