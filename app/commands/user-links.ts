/** Links for people, made by the operator. The operator passes them on, so no mail is sent. */
import { invitationLifeMs, invitationsMax } from '../../domain/access/sign-in/invitations.ts'
import { linkTo, newToken } from '../../domain/access/sign-in/links.ts'
import { resetLifeMs } from '../../domain/access/sign-in/resets.ts'
import type { Role } from '../../domain/records/organization.ts'
import type { ParleyConfig } from '../../generated/config/types.ts'
import { authorityOf, isEveryAddress } from '../../runtime/engine/host.ts'
import { readPidFile } from '../../runtime/process/pid-file.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import type { Store } from '../../store/store.ts'

export function userLinksOf(config: ParleyConfig, { passwordResets, invitations }: Store) {
  return {
    async reset(email: string): Promise<string | null> {
      const { token, digest } = newToken()
      const now = new Date(systemClock.nowMs())
      const isKnown = await passwordResets.insert(email.toLowerCase(), digest, now, after(now, resetLifeMs), null)
      return isKnown ? linkTo(baseOf(config), 'reset', token) : null
    },
    async invite(organizationId: string, email: string, role: Role) {
      const { token, digest } = newToken()
      const now = new Date(systemClock.nowMs())
      const invited = { email: email.toLowerCase(), role, name: null, inviter: { type: 'operator', id: null } } as const
      const link = { digest, now, expiresAt: after(now, invitationLifeMs) }
      const made = await invitations.insert(organizationId, invited, link, invitationsMax)
      return typeof made === 'string' ? made : { url: linkTo(baseOf(config), 'invite', token) }
    },
  }
}

const after = (now: Date, lifeMs: number) => new Date(now.getTime() + lifeMs)

/** Returns the server's public URL, or without `publicUrl` its URL on this machine. */
function baseOf({ publicUrl, dataDir, host, port }: ParleyConfig): string {
  const here = () => `http://${authorityOf(isEveryAddress(host) ? '127.0.0.1' : host, port)}`
  return publicUrl ?? readPidFile(dataDir)?.url ?? here()
}
