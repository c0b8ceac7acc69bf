/**
 * A session's socket. It reconnects after a loss.
 *
 *   connecting ──► live ──► over
 *       ▲           │
 *       └── lost ◄──┘
 *
 * Only the frame `end` reports that a session is over. After a close without `end` the socket is lost, and the session
 * waits for a new socket. Reconnecting stops if the first connection fails, if a new attempt would get the same error,
 * or after `reconnectMs`.
 */
export class SessionSocket {
  #options
  #socket = null
  #state = 'connecting'
  #lostAtMs = 0
  #attempts = 0
  /** The error frame received before the close. */
  #error = null
  #cancelRetry = () => {}

  /**
   * Tests may replace `WebSocket`, `nowMs` and `after`. `on` has `ready(frame)`, `frame(frame)`, `audio(bytes)`,
   * `lost()` and `over({reason, error})`: `reason` is null if the session may still be live.
   */
  constructor({ url, token, prefix = 'service', first = null, on, ...more }) {
    const defaults = { WebSocket: globalThis.WebSocket, nowMs: () => performance.now(), after }
    this.#options = {
      url,
      protocols: [`${prefix}.session.v1`, `${prefix}.ephemeral.${token}`],
      first,
      on,
      ...defaults,
      ...more,
    }
    this.#open()
  }

  get isLive() {
    return this.#state === 'live'
  }

  /** Sends a frame. Returns false if the socket is not live; the frame is then dropped. */
  send(frame) {
    const { WebSocket } = this.#options
    // A socket that closes is live until its close event, and a frame sent then is an error in the browser's console.
    if (this.#state !== 'live' || this.#socket.readyState !== WebSocket.OPEN) return false
    this.#socket.send(frame instanceof ArrayBuffer ? frame : JSON.stringify(frame))
    return true
  }

  /** Closes the socket without hanging up. */
  close() {
    this.#finish({ reason: null, error: null })
  }

  #open() {
    const { url, protocols, WebSocket } = this.#options
    const socket = new WebSocket(url, protocols)
    socket.binaryType = 'arraybuffer'
    this.#socket = socket
    this.#error = null
    socket.onopen = () => {
      // Overrides are sent once, because the server ignores them after the session has begun.
      if (this.#options.first !== null) socket.send(JSON.stringify(this.#options.first))
      this.#options.first = null
    }
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return
      if (typeof data === 'string') this.#take(JSON.parse(data))
      else this.#options.on.audio(data)
    }
    socket.onclose = () => {
      if (socket === this.#socket) this.#lose()
    }
  }

  #take(frame) {
    const { on } = this.#options
    if (frame.type === 'ready') {
      this.#state = 'live'
      this.#attempts = 0
      on.ready(frame)
    } else if (frame.type === 'end') this.#finish({ reason: frame.reason, error: this.#error })
    else {
      if (frame.type === 'error' && frame.fatal) this.#error = frame
      on.frame(frame)
    }
  }

  #lose() {
    const { on, nowMs, after } = this.#options
    const isFirst = this.#state === 'connecting'
    if (isFirst || (this.#error !== null && repeating.has(this.#error.code)))
      return this.#finish({ reason: null, error: this.#error })
    if (this.#state === 'live') {
      this.#state = 'lost'
      this.#lostAtMs = nowMs()
      on.lost()
    }
    if (nowMs() - this.#lostAtMs >= reconnectMs) return this.#finish({ reason: null, error: this.#error })
    this.#cancelRetry = after(Math.min(firstRetryMs * 2 ** this.#attempts, lastRetryMs), () => this.#open())
    this.#attempts += 1
  }

  #finish(how) {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#cancelRetry()
    const socket = this.#socket
    this.#socket = null
    socket?.close()
    this.#options.on.over(how)
  }
}

/** The server keeps a session for this long after its socket was lost. */
const reconnectMs = 20_000
const firstRetryMs = 250
const lastRetryMs = 4000
/**
 * After these errors a new attempt would fail too: another socket has joined the session, or this client's frames break
 * the contract.
 */
const repeating = new Set(['REPLACED', 'INVALID_FRAME'])

function after(ms, run) {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
