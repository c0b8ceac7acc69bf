/**
 * The interfaces between the HTTP engine and its two transports: uWebSockets.js in listeners/uws/, node:http with `ws`
 * in listeners/node/. No other file touches either library.
 */
import type { ChildProcess } from 'node:child_process'

export type BodySpeed = {
  /** A body may be slower than `bytesPerSMin` for this long after its start, because new connections are slow. */
  startMs: number
  /** The longest pause between two chunks, or Infinity if the server's limit is enough. */
  pauseMs: number
  /** The lowest speed, or 0 if the server's limit is enough. */
  bytesPerSMin: number
}

/**
 * One HTTP exchange. Every method may be called at any time. After the client has gone or the response is complete,
 * methods do nothing.
 */
export interface Transport {
  /** `1.1`, or another version if the transport accepts it. */
  readonly httpVersion: string
  /** The method in lower case: `get`. */
  readonly method: string
  /** The path as it was sent, without the query. */
  readonly path: string
  /** The query without the question mark; '' if there is no query. */
  readonly query: string
  /**
   * The longest time for a whole body, in milliseconds. Infinity if the transport itself enforces a higher minimum
   * speed than the server, because each body then ends in bounded time.
   */
  readonly bodyTimeoutMs: number
  /** The transport's requirements for a body, beside the server's own limits. */
  readonly bodySpeed: BodySpeed

  /**
   * Returns a header's value as Latin-1, so a character is a byte; '' if absent. Must be called before the first await,
   * because uWebSockets.js invalidates the request then.
   */
  header(name: string): string
  /** Visits every header line as it came, names in lower case. Must be called before the first await. */
  eachHeader(visit: (name: string, value: string) => void): void
  /** Returns the peer's IP address as text. */
  address(): string

  /**
   * Sets a listener for the client's disconnection. Must be called first: uWebSockets.js ends the process if a handler
   * returns without a response and without this listener.
   */
  onAborted(run: () => void): void
  /** `take` may use `chunk` only until it returns. Must be called before the first await. */
  onData(take: (chunk: Uint8Array, last: boolean) => void): void

  /**
   * Announces that the request has a body, or that a proxy may see a body in it. The bytes after the request may then
   * hold a smuggled request. If the transport does not verify the framing, it must not run the smuggled request.
   * `closes`: the connection ends with the response. Must be called before the first await, and before `onData`.
   */
  isolate(hasBody: boolean, closes: boolean): void
  /**
   * Writes a whole response. `headers` alternates names and values. A null body is a response without content. A HEAD
   * request gets only the length.
   */
  answer(status: number, headers: readonly string[], body: string | Uint8Array | null, close: boolean): void
  /**
   * Writes the head and the first chunk of a chunked response. `bytes` is the length of all chunks together, or null if
   * unknown. If the method returns false, wait for `onDrained` before the next write, and before `end` if `bytes` is
   * known.
   */
  open(status: number, headers: readonly string[], chunk: string | Uint8Array, bytes: number | null): boolean
  write(chunk: string | Uint8Array): boolean
  /** Calls `run` once, when the client has read enough of the written bytes. */
  onDrained(run: () => void): void
  /** Keeps the transport's idle timeout from ending the connection while the client is slow to read. */
  holdOpen(): void
  end(): void
  /** Ends the connection at once, without another byte. */
  close(): void
}

/** A request to open a socket. */
export interface UpgradeTransport extends Transport {
  /**
   * Answers 101 and returns the socket, or null if the client has gone. `owner` gets all events from the socket. `key`
   * is Sec-WebSocket-Key. `subprotocol` is written unchanged; '' offers no subprotocol.
   */
  upgrade(headers: readonly string[], key: string, subprotocol: string, owner: SocketOwner): SocketTransport | null
}

/**
 * One open socket. It must not be touched after `SocketOwner.gone`. It has the same methods as a socket of
 * uWebSockets.js, so such a socket needs no wrapper.
 */
export interface SocketTransport {
  /**
   * Returns 1 if everything is handed to the kernel, 0 if some bytes are buffered. A string must be ASCII: see utf8.ts.
   */
  send(message: string | Uint8Array, isBinary: boolean): number
  /** Bytes sent but not yet handed to the kernel. */
  getBufferedAmount(): number
  /** Queues a close frame and waits for the peer's close frame. */
  end(code: number, reason: string): void
  /** Ends the connection at once, without a close frame. */
  close(): void
}

/** The callbacks for one socket. No callback may throw: uWebSockets.js would end the process. */
export interface SocketOwner {
  /**
   * Called for a message, which may be used only until this returns. Text is valid UTF-8: otherwise the transport ends
   * the socket.
   */
  receive(message: Uint8Array, isBinary: boolean): void
  /** Called when some of the buffered bytes were written. */
  drained(): void
  /** Called when the socket has ended. This is the last callback. `code` is the close code of RFC 6455. */
  gone(code: number): void
}

/** A port on which the server listens. */
export type Listener = {
  port: number
  /** Lets a child process listen on this port, too. */
  share: (child: ChildProcess) => void
  /** Stops accepting connections. The open connections stay. */
  refuse(): void
  /** Stops accepting connections and ends the open ones. */
  close(): Promise<void>
}
