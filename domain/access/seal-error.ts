/**
 * A stored secret cannot be opened: it was sealed with another master key, or changed. The message tells the operator
 * how to fix it, in the log and the terminal.
 */
export class SealError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'SealError'
  }
}
