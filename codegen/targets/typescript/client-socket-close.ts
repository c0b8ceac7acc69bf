/** Turns a socket's close into its error. All clients have the same rules. */
import { ParleyError } from './client-api-error.ts'

/** The errors on a socket, by code. `closeCode` is null if the socket stays open after the error. */
export type CloseRows = Readonly<Record<string, { closeCode: number | null; retryable: boolean; message: string }>>

/** The server closed the socket with a code other than 1000, or the connection was lost. */
export class SocketClosedError extends ParleyError {
  /** The WebSocket close code. 1005: the server sent no code. 1006: the connection was lost. */
  readonly closeCode: number
  /** The server's text in the close frame. */
  readonly reason: string
  /** The error code, for programs. Null if the server sent no error. */
  readonly code: string | null
  /** True if a new socket with the same settings may succeed. */
  readonly retryable: boolean

  constructor({ closeCode, reason, code, retryable, message }: SocketClosedFields) {
    super(message)
    this.name = 'SocketClosedError'
    this.closeCode = closeCode
    this.reason = reason
    this.code = code
    this.retryable = retryable
  }
}

type SocketClosedFields = {
  closeCode: number
  reason: string
  code: string | null
  retryable: boolean
  message: string
}

/** An error frame. The channel that is compatible with OpenAI nests the fields in `error`. */
export type ErrorFrame = { code?: unknown; retryable?: unknown; fatal?: unknown }

/** Returns the frame's error. Null for other frames, and for an error that leaves the socket open. */
export function errorIn(frame: { type?: unknown; error?: unknown } & ErrorFrame): ErrorFrame | null {
  if (frame.type !== 'error' || frame.fatal === false) return null
  return typeof frame.error === 'object' && frame.error !== null ? frame.error : frame
}

export const normalCode = 1000
export const lostCode = 1006
/** Without an error code: the connection was lost, the server restarts, or the server has too much work. */
const retryableCodes: readonly number[] = [lostCode, 1012, 1013]

/** Takes the error code from the last error frame, or else from the close's reason. */
export function closedError(
  closeCode: number,
  reason: string,
  frame: ErrorFrame | null,
  rows: CloseRows,
): SocketClosedError {
  const isClosing = (code: string) => Object.hasOwn(rows, code) && rows[code]?.closeCode !== null
  const sent = typeof frame?.code === 'string' && (isClosing(frame.code) || frame.code === reason) ? frame : null
  const code = sent ? String(sent.code) : isClosing(reason) ? reason : null
  const row = code === null ? undefined : rows[code]
  const retryable = row?.retryable ?? retryableCodes.includes(closeCode)
  return new SocketClosedError({
    ...{ closeCode, reason, code },
    retryable: typeof sent?.retryable === 'boolean' ? sent.retryable : retryable,
    message: row?.message ?? `The socket closed with ${closeCode}.`,
  })
}
