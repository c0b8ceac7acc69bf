/**
 * The interfaces between the engine and the families of transports: uWebSockets.js in uws/, node:http with `ws` in
 * node/. No other file touches those.
 */
import type { ChildProcess } from 'node:child_process'

/**
 * One HTTP exchange. Every method may be called at any time: after the client has gone or the answer is complete it
 * does nothing.
 */
export interface Transport {
  /** `1.1`; any other where the transport takes it. */
  readonly httpVersion: string
  /** Lower case. */
  readonly method: string
  /** Without the query, as it was sent. */
  readonly path: string
  /** Without the question mark; '' without a query. */
  readonly query: string
  /**
   * The longest that a whole body may take, milliseconds. Infinity where the transport has its own lower bound on the
   * speed of a body.
   */
  readonly bodyTimeoutMs: number

  /**
   * Latin1: a character is a byte. '' when it is absent. Only until the first await: uWebSockets.js takes the request
   * back then.
   */
  header(name: string): string
  /** Every header line as it came, names in lower case. Only until the first await. */
  eachHeader(visit: (name: string, value: string) => void): void
  /** The peer's IP address as text. */
  address(): string

  /**
   * Must be called first: uWebSockets.js ends the process when a handler returns without an answer and without this
   * listener.
   */
  onAborted(run: () => void): void
  /** `chunk` is lent until `take` returns. Must be called before the first await. */
  onData(take: (chunk: Uint8Array, last: boolean) => void): void

  /**
   * The request has a body, or might have one for another reader: a request that stands behind it in the same bytes must
   * not run where the transport does not verify the framing. `closes`: the connection ends with the answer. Must be
   * called before the first await, and before `onData`.
   */
  isolate(hasBody: boolean, closes: boolean): void
  /**
   * A whole answer. `headers` alternates names and values; a null body is an answer without content. A HEAD request
   * gets the length alone.
   */
  answer(status: number, headers: readonly string[], body: string | Uint8Array | null, close: boolean): void
  /**
   * Head and first chunk of an answer that comes in chunks. `bytes` is the sum of their lengths, and null where it is not
   * known. False: wait for `onDrained` before the next write, and before `end` of an answer of known length.
   */
  open(status: number, headers: readonly string[], chunk: string | Uint8Array, bytes: number | null): boolean
  write(chunk: string | Uint8Array): boolean
  /** Calls `run` once, when the client has taken enough of what was written. */
  onDrained(run: () => void): void
  /** While the client is slow to read: keeps the transport's idle timeout from ending the connection. */
  holdOpen(): void
  end(): void
  /** Ends the connection at once, without another byte. */
  close(): void
}

/** A request to open a socket. */
export interface UpgradeTransport extends Transport {
  /**
   * Answers 101 and returns the socket, or null when the client has gone. `owner` gets everything that comes over the
   * socket. `key` is Sec-WebSocket-Key. `subprotocol` is written as it stands, '' for none.
   */
  upgrade(headers: readonly string[], key: string, subprotocol: string, owner: SocketOwner): SocketTransport | null
}

/**
 * One open socket. It must not be touched after `SocketOwner.gone`. The shape is that of uWebSockets.js, so that its
 * sockets need no wrapper.
 */
export interface SocketTransport {
  /** 1: everything is handed to the kernel. 0: some is buffered. A string must be ASCII: see utf8.ts. */
  send(message: string | Uint8Array, isBinary: boolean): number
  /** Bytes that were sent and are not handed to the kernel yet. */
  getBufferedAmount(): number
  /** Queues a close frame and waits for the peer's. */
  end(code: number, reason: string): void
  /** Ends the connection at once, without a close frame. */
  close(): void
}

/** The callbacks of one socket. None may throw: uWebSockets.js would end the process. */
export interface SocketOwner {
  /** `message` is lent until this returns. Text is valid UTF-8: the transport ends the socket otherwise. */
  receive(message: Uint8Array, isBinary: boolean): void
  /** Some of the buffered bytes were written. */
  drained(): void
  /** The socket has ended. This is the last callback. `code` is the close code of RFC 6455. */
  gone(code: number): void
}

/** A port that is served. */
export type Listener = {
  port: number
  /** Lets a child process listen on this port, too. */
  share: (child: ChildProcess) => void
  /** Takes no new connections. */
  refuse(): void
  /** Ends the connections, too. */
  close(): Promise<void>
}
