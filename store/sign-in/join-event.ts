import type { Browser } from '../../domain/access/sign-in/people.ts'
import type { AuditTarget, NewAuditEvent } from '../../domain/records/audit.ts'
import type { Role } from '../../domain/records/organization.ts'

type Join = { organizationId: string; userId: string; role: Role; browser: Browser }

/** Makes the audit log's event for a person who has got a role by signing in. */
export function joinEvent(
  { organizationId, userId, role, browser: { ip, userAgent } }: Join,
  action: 'invitation.accepted' | 'member.created',
  target: AuditTarget,
): NewAuditEvent {
  return {
    organizationId,
    actor: { type: 'user', id: userId },
    action,
    target,
    changed: [],
    values: { role: [null, role] },
    source: { ip, userAgent, via: 'console' },
    result: 'succeeded',
    requestId: null,
  }
}
