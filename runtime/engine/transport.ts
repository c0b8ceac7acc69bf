/**
 * One HTTP exchange as the lifecycle sees it, whatever carries it: uWebSockets.js, or node:http on the upload port.
 * Every method may be called at any time: after the client has gone or the answer is complete it does nothing.
 */
export interface Transport {
  /** Lower case. */
  readonly method: string
  /** Without the query, as it was sent. */
  readonly path: string
  /** Without the question mark; '' when there is none. */
  readonly query: string
  /** The longest that a whole body may take, milliseconds; Infinity where the carrier has a floor of its own. */
  readonly bodyTimeoutMs: number

  /** Latin1: a character is a byte. '' when it is absent. Only until the first await: uWebSockets.js takes the request back then. */
  header(name: string): string
  /** Every header line as it came, names in lower case. Only until the first await. */
  eachHeader(visit: (name: string, value: string) => void): void
  /** The peer's IP address as text. */
  address(): string

  /** To be attached first of all: uWebSockets.js ends the process when a handler returns unanswered without it. */
  onAborted(run: () => void): void
  /** `chunk` is only lent until `take` returns. To be attached before the first await. */
  onData(take: (chunk: Uint8Array, last: boolean) => void): void

  /** A whole answer. `headers` alternates names and values; null is an answer that has no content. A HEAD request gets the length alone. */
  answer(status: number, headers: readonly string[], body: string | Uint8Array | null, close: boolean): void
  /** Head and first chunk of an answer of unknown length. False: wait for `onDrained` before the next write. */
  open(status: number, headers: readonly string[], chunk: string | Uint8Array): boolean
  write(chunk: string | Uint8Array): boolean
  /** Calls `run` once, when the client has taken enough of what was written. */
  onDrained(run: () => void): void
  /** While the client is slow to read: keeps the carrier's own idle timeout from ending the connection. */
  holdOpen(): void
  end(): void
  /** Ends the connection at once, without another byte. */
  close(): void
}
