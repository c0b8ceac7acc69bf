/** Sends mail over SMTP. Each mail has a connection, because mails are rare. */
import { createTransport } from 'nodemailer'
import { type Mail, MailError, type Mailer } from '../../domain/ports/mailer.ts'

export type SmtpSettings = {
  host: string
  port: number
  tls: 'starttls' | 'tls' | 'none'
  user: string | null
  password: string | null
  from: string
}

const connectMs = 5_000
const greetingMs = 5_000
const silenceMs = 10_000

export function createSmtpMailer({ host, port, tls, user, password, from }: SmtpSettings): Mailer {
  const transport = createTransport({
    host,
    port,
    secure: tls === 'tls',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(user !== null && { auth: { user, pass: password ?? '' } }),
    connectionTimeout: connectMs,
    greetingTimeout: greetingMs,
    socketTimeout: silenceMs,
    // Our mails contain only text, so the library must not read attachments from files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ to, subject, text }: Mail) {
      try {
        await transport.sendMail({ from, to: { name: '', address: to }, subject, text })
      } catch (cause) {
        throw new MailError(reasonOf((cause as { code?: string }).code), { cause })
      }
    },
  }
}

function reasonOf(code = ''): string {
  if (code === 'EAUTH') return 'The mail server refuses the user or the password.'
  if (code === 'ETLS') return 'The mail server has no TLS that can be trusted.'
  if (code === 'EENVELOPE') return 'The mail server refuses the sender or the address.'
  if (code === 'EMESSAGE') return 'The mail server refuses the mail.'
  return 'The mail server does not answer.'
}
