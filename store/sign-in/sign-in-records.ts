/** Makes the store's repositories for signing in to the console. */
import type { AttemptStore } from '../../domain/access/attempts.ts'
import type { InvitationStore } from '../../domain/access/sign-in/invitations.ts'
import type { OidcStore } from '../../domain/access/sign-in/oidc.ts'
import type { PeopleStore, SessionStore, SignInFailures } from '../../domain/access/sign-in/people.ts'
import type { ResetStore } from '../../domain/access/sign-in/resets.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Loop } from '../../runtime/timing/loops.ts'
import type { Forget } from '../access/credentials.ts'
import type { Sql } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { createAttempts, sweepAttempts } from './attempts.ts'
import { createInvitationRecords, sweepInvitations } from './invitations.ts'
import { createOidcPeople } from './oidc.ts'
import { createPasswordResets, sweepResets } from './password-resets.ts'
import { createPeople } from './people.ts'
import { createSessions } from './sessions.ts'
import { createSignInFailures } from './sign-in-events.ts'

export type SignInRecords = {
  people: PeopleStore
  personSessions: SessionStore
  signInAttempts: AttemptStore
  signInFailures: SignInFailures
  passwordResets: ResetStore
  invitations: InvitationStore
  oidcPeople: OidcStore
}

export function createSignInRecords(tenancy: Tenancy, clock: Clock, forget: Forget): SignInRecords {
  return {
    people: createPeople(tenancy, clock, forget),
    personSessions: createSessions(tenancy, clock, forget),
    signInAttempts: createAttempts(tenancy),
    signInFailures: createSignInFailures(tenancy, clock),
    passwordResets: createPasswordResets(tenancy, forget),
    invitations: createInvitationRecords(tenancy),
    oidcPeople: createOidcPeople(tenancy, forget),
  }
}

const sweepEveryMs = 60_000

export function signInLoops(system: Sql, clock: Clock): Loop[] {
  return [
    { name: 'forgotten attempts', everyMs: sweepEveryMs, run: () => sweepAttempts(system, clock) },
    { name: 'expired password links', everyMs: sweepEveryMs, run: () => sweepResets(system, clock) },
    { name: 'expired invitations', everyMs: sweepEveryMs, run: () => sweepInvitations(system, clock) },
  ]
}
