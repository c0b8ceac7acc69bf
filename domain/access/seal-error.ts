/**
 * A stored secret cannot be decrypted: it was encrypted with another master key, or it was changed. The message is for
 * the log and the terminal. It says how the operator can correct this.
 */
export class SealError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'SealError'
  }
}
