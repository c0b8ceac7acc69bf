export type Mail = { to: string; subject: string; text: string }

/** Sends mail. */
export interface Mailer {
  /** Resolves when the mail server has taken the mail, and rejects with MailError if it has not. */
  send(mail: Mail): Promise<void>
}

/** `reason` is for people, and never quotes the mail server. */
export class MailError extends Error {
  readonly reason: string

  constructor(reason: string, options: { cause?: unknown } = {}) {
    super(reason, options)
    this.name = 'MailError'
    this.reason = reason
  }
}
