/** Sends mails to people, at most three an hour to one e-mail address. */
import { MailError, type Mailer } from '../../ports/mailer.ts'
import type { Log } from '../../ports/system.ts'
import type { Role } from '../../records/organization.ts'
import type { LockOut } from './lock-out.ts'

export type PostDeps = { mailer: Mailer | null; lockOut: Pick<LockOut, 'mayMail'>; log: Pick<Log, 'warn'> }

export type InvitationMail = { to: string; organizationName: string; role: Role; invitedBy: string | null; url: string }

export type Post = {
  /** Resolves with null if the mail server has taken the mail, else with the reason in words. */
  invite(mail: InvitationMail): Promise<string | null>
  reset(to: string, url: string): Promise<string | null>
  /** Tells a person about a new password. The limit does not count this mail. */
  passwordChanged(to: string): Promise<void>
}

const noMail = 'This server sends no mail.'
const tooMany = 'This address has had three mails in the last hour.'

export function createPost({ mailer, lockOut, log }: PostDeps): Post {
  async function send(to: string, subject: string, lines: readonly string[]): Promise<string | null> {
    if (mailer === null) return noMail
    try {
      await mailer.send({ to, subject, text: `${lines.join('\n\n')}\n` })
      return null
    } catch (error) {
      if (!(error instanceof MailError)) throw error
      log.warn({ reason: error.reason, err: error.cause }, 'a mail was not sent')
      return error.reason
    }
  }

  async function limited(to: string, subject: string, lines: readonly string[]): Promise<string | null> {
    if (mailer === null) return noMail
    return (await lockOut.mayMail(to)) ? send(to, subject, lines) : tooMany
  }

  return {
    invite: ({ to, organizationName, role, invitedBy, url }) =>
      limited(to, `Invitation to ${oneLine(organizationName)}`, [
        `${invitedBy === null ? 'You are invited' : `${oneLine(invitedBy)} invites you`} to ${oneLine(organizationName)} as ${role}.`,
        `Accept within seven days: ${url}`,
        'If you do not expect this invitation, do nothing.',
      ]),
    reset: (to, url) =>
      limited(to, 'A new password', [
        `Set a new password within one hour: ${url}`,
        'If you have not asked for this link, do nothing: your password stays.',
      ]),
    passwordChanged: async (to) =>
      void (await send(to, 'Your password has changed', [
        'Your password has been set anew with a link, and you are signed out everywhere.',
        'If you have not done this, set a new password now and tell your administrator.',
      ])),
  }
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ')
