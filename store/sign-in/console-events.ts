/** The audit log's events for requests to the console's sign-in. */
import type { Browser } from '../../domain/access/sign-in/people.ts'
import type { AuditTarget, NewAuditEvent } from '../../domain/records/audit.ts'
import type { Role } from '../../domain/records/organization.ts'

/** Makes the parts that all these events share. */
export function consoleEvent(organizationId: string, action: string, { ip, userAgent }: Browser) {
  return {
    ...{ organizationId, action, changed: [], requestId: null },
    source: { ip, userAgent, via: 'console' },
  } satisfies Partial<NewAuditEvent>
}

type Join = { organizationId: string; userId: string; role: Role; browser: Browser }

/** Makes the event for a person who has got a role by signing in. */
export function joinEvent(
  { organizationId, userId, role, browser }: Join,
  action: 'invitation.accepted' | 'member.created',
  target: AuditTarget,
): NewAuditEvent {
  return {
    ...consoleEvent(organizationId, action, browser),
    actor: { type: 'user', id: userId },
    target,
    values: { role: [null, role] },
    result: 'succeeded',
  }
}
