/** A mail server. It keeps all received mails. */
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { Settings } from '../server.ts'

export type SunkMail = { to: string; text: string }

export async function startMailSink(t: { teardown(run: () => Promise<void>): void }) {
  const mails: SunkMail[] = []
  let refuses = false
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => done(refuses ? new Error('no such mailbox') : null),
    onData(stream, session, done) {
      let text = ''
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
      stream.on('end', () => {
        // Decodes quoted-printable, because long lines come in this encoding.
        const plain = text.replace(/=\r\n/g, '').replace(/=3D/g, '=')
        mails.push({ to: session.envelope.rcptTo[0]?.address ?? '', text: plain })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>((resolve) => server.close(resolve)))
  const { port } = server.server.address() as AddressInfo
  const env: Settings = {
    PARLEY_SMTP_HOST: '127.0.0.1',
    PARLEY_SMTP_PORT: String(port),
    PARLEY_SMTP_TLS: 'none',
    PARLEY_SMTP_FROM: 'Parley <parley@example.com>',
  }
  return {
    mails,
    env,
    /** Makes the server refuse all email addresses from now on. */
    refuse(isRefusing: boolean) {
      refuses = isRefusing
    },
  }
}

/** Returns the token in the newest mail or text with a link. */
export function tokenIn(text: string): string {
  return /#([\w-]{43})/.exec(text)?.[1] ?? ''
}
