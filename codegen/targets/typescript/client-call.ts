/** The types of a call: the caller's options, the row of the operation, and the answer. */

export type ClientOptions = {
  /** The server's address, such as http://127.0.0.1:8080. */
  baseUrl: string
  /** The bearer token for secured operations. The default is the environment variable PARLEY_API_KEY. */
  apiKey?: string
  fetch?: typeof globalThis.fetch
  /**
   * How long a whole answer may take, in milliseconds. 300,000 by default, and Node's own fetch takes no more. If the
   * answer is a stream or audio, this limits the time until the answer begins, and then the time of each read.
   */
  timeoutMs?: number
  /** How many times a request is sent again after a failure that permits it. 2 by default. */
  retriesMax?: number
  /** The server's setting `headerPrefix`, if its operator has changed it. `Service` by default. */
  headerPrefix?: string
  /** Sent as User-Agent. Browsers send their own value instead. */
  userAgent?: string
}

/** Options for every operation. */
export type CallOptions = {
  signal?: AbortSignal
  headers?: Record<string, string>
  /** Replaces the client's limit for this call. */
  timeoutMs?: number
}

/** One answer. `type` tells its body apart from other bodies. */
export type Answer<Type extends string, Body> = { status: number; type: Type; headers: Headers; body: Body }

export type OperationRow = {
  method: string
  path: string
  /** The form in which the client returns a body, by media type. The default is JSON. */
  answers?: Readonly<Record<string, string>>
  /** True if the operation needs no API key. */
  isOpen?: boolean
  /** True if the operation takes an Idempotency-Key. The client makes a key if the call has no key. */
  isIdempotent?: boolean
  body?: 'json' | 'multipart' | 'bytes'
  /** The parts in a multipart body, in their order on the wire. */
  parts?: readonly { name: string; kind: string }[]
  headers?: readonly { name: string; isJson: boolean }[]
  /** Marks a stream's last frame: an event's name, or for a frame without a name `[DONE]` or its data's `type`. */
  terminalEvents?: readonly string[]
  /** Present if a cut stream can be opened again: for each event name, the field that distinguishes two events. */
  eventIdentity?: Readonly<Record<string, string>>
}

export type Call = CallOptions & {
  path?: Record<string, unknown>
  query?: Record<string, Scalar | Scalar[] | undefined>
  /** By names in lower case. */
  header?: Record<string, Scalar | object | undefined>
  body?: unknown
  idempotencyKey?: string
}
export type ErrorFactory = (status: number, headers: Headers, body: unknown) => Error
type Scalar = string | number | boolean
/** The parts of a client that all its operations share. `prefix` is the path before the operations' paths. */
type Client = { options: ClientOptions; toError: ErrorFactory; prefix: string }
/** All that an operation's requests have in common. */
export type Context = Client & { row: OperationRow; call: Call }
