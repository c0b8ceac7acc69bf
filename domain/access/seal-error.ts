/**
 * A stored secret that this process cannot open: it was sealed with another master key, or changed. The message says what
 * to do, for the log and the terminal.
 */
export class SealError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'SealError'
  }
}
